package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

type entry struct {
	col int
	val float64
}

// ring builds a small diagonally dominant system of coupled oscillators.
func ring(n int) ([][]entry, []float64) {
	rows := make([][]entry, n)
	rhs := make([]float64, n)
	for i := range rows {
		rows[i] = []entry{{(i + 1) % n, -1}, {(i + n - 1) % n, -1}, {(i + 7) % n, -0.5}}
		rhs[i] = math.Sin(float64(i))
	}
	return rows, rhs
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	sweeps, _ := strconv.Atoi(os.Args[2])
	rows, rhs := ring(n)
	x := make([]float64, n)
	for s := 0; s < sweeps; s++ {
		change := 0.0
		for i, row := range rows {
			sum := rhs[i]
			for _, e := range row {
				sum -= e.val * x[e.col]
			}
			next := sum / 2.6
			change = math.Max(change, math.Abs(next-x[i]))
			x[i] = next
		}
		if s%20000 == 0 {
			fmt.Printf("sweep %d change %.3e\n", s, change)
		}
	}
}
