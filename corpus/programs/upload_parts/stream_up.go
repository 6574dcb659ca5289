package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

type pattern struct{ at, size int }

func (p *pattern) Read(b []byte) (int, error) {
	if p.at >= p.size {
		return 0, io.EOF
	}
	n := len(b)
	if n > p.size-p.at {
		n = p.size - p.at
	}
	copy(b[:n], bytes.Repeat([]byte{byte(p.at)}, n))
	p.at += n
	return n, nil
}

func main() {
	size, _ := strconv.Atoi(os.Args[2])
	req, err := http.NewRequest("POST", os.Args[1], &pattern{0, size})
	if err != nil {
		panic(err)
	}
	req.ContentLength = int64(size)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, string(answer))
}
