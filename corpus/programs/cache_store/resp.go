package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func (c *client) do(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := c.conn.Write([]byte(b.String())); err != nil {
		panic(err)
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		panic(err)
	}
	if line[0] == '$' && line[1] != '-' {
		line, _ = c.in.ReadString('\n')
	}
	return strings.TrimSpace(line)
}

func main() {
	conn, err := net.Dial("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	c := &client{conn, bufio.NewReader(conn)}
	n, _ := strconv.Atoi(os.Args[2])
	for i := 0; i < n; i++ {
		if i%3 == 2 {
			c.do("GET", "k"+strconv.Itoa(i-1))
		} else {
			c.do("SET", "k"+strconv.Itoa(i), strings.Repeat("x", 60*i))
		}
	}
	fmt.Println(c.do("DBSIZE"))
}
