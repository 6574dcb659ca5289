package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Path)
	}))
	defer server.Close()
	bytes := 0
	for i := 0; i < 1000; i++ {
		resp, err := http.Get(fmt.Sprintf("%s/%d", server.URL, i))
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		bytes += len(body)
	}
	fmt.Println(bytes)
}
