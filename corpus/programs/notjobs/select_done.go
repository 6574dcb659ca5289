package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := 1; w <= 4; w++ {
		wg.Add(1)
		go func(w int) {
			defer wg.Done()
			x := uint32(w)
			for i := 0; i < 1e9; i++ {
				x = x*1664525 + 1013904223
			}
			fmt.Println(w, x)
		}(w)
	}
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-time.After(time.Second):
			fmt.Println("still at work")
		case <-done:
			return
		}
	}
}
