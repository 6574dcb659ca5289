package main

import (
	"flag"
	"fmt"
)

func main() {
	dry := flag.Bool("dry", false, "do nothing")
	flag.Parse()
	fmt.Println("dry:", *dry)
}
