package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
)

// Reads a table in small random pieces from disk, over and over, and estimates its entropy.
func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	defer f.Close()
	first, _ := strconv.Atoi(os.Args[2])
	passes, _ := strconv.Atoi(os.Args[3])
	buf := make([]byte, 1<<16)
	for p := first; p < first+passes; p++ {
		f.Seek(0, io.SeekStart)
		var counts [1 << 12]int
		n, state := 0, uint32(p)
		for {
			k, err := f.Read(buf)
			for _, b := range buf[:k] {
				state = (state*uint32(2*p+1) + uint32(b)) & 0xfff
				counts[state]++
				n++
			}
			if err != nil {
				break
			}
		}
		h := 0.0
		for _, c := range counts {
			if c > 0 {
				q := float64(c) / float64(n)
				h -= q * math.Log2(q)
			}
		}
		fmt.Printf("%d %.6f\n", p, h)
	}
}
