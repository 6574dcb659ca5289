package main

import (
	"net"
	"os"
)

func listen(port string) {
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err == nil {
			c.Write([]byte("port " + port + "\n"))
			c.Close()
		}
	}
}

func main() {
	for _, port := range os.Args[1:] {
		go listen(port)
	}
	select {}
}
