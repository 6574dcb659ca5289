package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	users, _ := strconv.Atoi(os.Args[1])
	visits, _ := strconv.Atoi(os.Args[2])
	count := make(map[uint32]uint32, users)
	x := uint32(2463534242)
	for i := 0; i < visits; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		count[x%uint32(users)]++
	}
	most := uint32(0)
	for _, c := range count {
		if c > most {
			most = c
		}
	}
	fmt.Println(len(count), most)
}
