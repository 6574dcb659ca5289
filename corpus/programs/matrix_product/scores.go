// Scores of many users against a table of item vectors, one user after the other.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	items, _ := strconv.Atoi(os.Args[1])
	users, _ := strconv.Atoi(os.Args[2])
	const dim = 64
	table := make([]float32, items*dim)
	state := uint32(12345)
	for i := range table {
		state = state*1664525 + 1013904223
		table[i] = float32(state>>8) / float32(1<<24)
	}
	best := 0
	for u := 0; u < users; u++ {
		top, at := float32(-1), 0
		for i := 0; i < items; i++ {
			row := table[i*dim : i*dim+dim]
			var sum float32
			for k, x := range row {
				sum += x * float32((k*u)%7)
			}
			if sum > top {
				top, at = sum, i
			}
		}
		best += at
	}
	fmt.Println(best)
}
