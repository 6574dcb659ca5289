package main

import (
	"fmt"
	"os"
	"strconv"
)

type visit struct {
	next, user, page, ms uint32
}

// Visits arrive in order of time; each user's visits form a list.
func main() {
	n, _ := strconv.Atoi(os.Args[1])
	passes, _ := strconv.Atoi(os.Args[2])
	users := n / 4
	head := make([]uint32, users)
	visits := make([]visit, n+1)
	x := uint32(2463534242)
	for i := 1; i <= n; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		u := x % uint32(users)
		visits[i] = visit{head[u], u, x >> 20, x & 1023}
		head[u] = uint32(i)
	}
	for p := 0; p < passes; p++ {
		longest := uint32(0)
		for _, first := range head {
			total := uint32(0)
			for v := first; v != 0; v = visits[v].next {
				total += visits[v].ms
			}
			if total > longest {
				longest = total
			}
		}
		fmt.Println(p, longest)
	}
}
