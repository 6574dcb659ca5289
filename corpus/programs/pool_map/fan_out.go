package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	workers, _ := strconv.Atoi(os.Args[1])
	most, _ := strconv.Atoi(os.Args[2])
	in, out := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range in {
				out <- fib(n)
			}
		}()
	}
	go func() {
		for k := 0; k < 40; k++ {
			in <- most - k%5
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	sum := 0
	for f := range out {
		sum += f
	}
	fmt.Println(sum)
}
