package main

import (
	"flag"
	"fmt"
	"math"
)

// Mix a few short loops of sound with effects; the tracks are a second long.
func main() {
	seconds := flag.Int("seconds", 60, "length of the piece")
	flag.Parse()
	const rate = 44100
	tracks := make([][]float64, 4)
	for t := range tracks {
		tracks[t] = make([]float64, rate)
		for i := range tracks[t] {
			tracks[t][i] = math.Sin(float64(i) * float64(t+1) * 0.031)
		}
	}
	peak := 0.0
	low := 0.0
	for s := 0; s < *seconds; s++ {
		for i := 0; i < rate; i++ {
			v := 0.0
			for t := range tracks {
				v += tracks[t][(i*(t+1))%rate] * 0.25
			}
			low += 0.05 * (math.Tanh(1.5*v) - low)
			if low > peak {
				peak = low
			}
		}
	}
	fmt.Printf("peak %.4f\n", peak)
}
