package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

// Trace rays of light through a small refractive-index table.
func main() {
	rays, _ := strconv.Atoi(os.Args[1])
	const n = 64
	var table [n + 1][n + 1]float64
	for i := range table {
		for j := range table[i] {
			table[i][j] = 1 + 0.1*math.Sin(float64(i)/9)*math.Cos(float64(j)/7)
		}
	}
	sum := 0.0
	for r := 0; r < rays; r++ {
		x, y, angle := 0.0, float64(r%n), 0.2
		for x < n-1 && y >= 0 && y < n-1 {
			i, j := int(x), int(y)
			u, v := x-float64(i), y-float64(j)
			index := (1-u)*(1-v)*table[i][j] + u*(1-v)*table[i+1][j] +
				(1-u)*v*table[i][j+1] + u*v*table[i+1][j+1]
			angle += 0.001 * (index - 1)
			x += 0.05 * math.Cos(angle)
			y += 0.05 * math.Sin(angle)
		}
		sum += y
	}
	fmt.Println(sum / float64(rays))
}
