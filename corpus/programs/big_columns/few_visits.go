package main

import (
	"fmt"
	"os"
	"strconv"
)

// Counts visits per user: random access into a table.
func main() {
	users, _ := strconv.Atoi(os.Args[1])
	visits, _ := strconv.Atoi(os.Args[2])
	count := make([]uint32, users)
	x := uint64(88172645463325252)
	for i := 0; i < visits; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		count[x%uint64(users)]++
	}
	most := uint32(0)
	for _, c := range count {
		if c > most {
			most = c
		}
	}
	fmt.Println(users, most)
}
