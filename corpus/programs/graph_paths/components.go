package main

import (
	"flag"
	"fmt"
	"math/rand"
)

// find with path halving
func find(parent []int32, v int32) int32 {
	for parent[v] != v {
		parent[v] = parent[parent[v]]
		v = parent[v]
	}
	return v
}

func main() {
	n := flag.Int("nodes", 1000000, "")
	m := flag.Int("edges", 1000000, "")
	flag.Parse()
	parent := make([]int32, *n)
	for i := range parent {
		parent[i] = int32(i)
	}
	rng := rand.New(rand.NewSource(3))
	parts := *n
	for e := 0; e < *m; e++ {
		a := find(parent, int32(rng.Intn(*n)))
		b := find(parent, int32(rng.Intn(*n)))
		if a != b {
			parent[a] = b
			parts--
		}
	}
	fmt.Println(parts, "components")
}
