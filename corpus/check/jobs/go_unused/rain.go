package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

func main() {
	total := 0.0
	for _, word := range os.Args[1:] {
		value, err := strconv.ParseFloat(word, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		total += value
	}
	fmt.Println(total)
}
