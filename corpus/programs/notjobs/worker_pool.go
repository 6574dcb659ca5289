package main

import "fmt"

func worker(jobs <-chan int, results chan<- int) {
	for {
		n, ok := <-jobs
		if !ok {
			return
		}
		s := 0
		for i := 1; i <= n; i++ {
			s += n % i
		}
		results <- s
	}
}

func main() {
	jobs, results := make(chan int, 100), make(chan int, 100)
	for w := 0; w < 3; w++ {
		go worker(jobs, results)
	}
	go func() {
		for n := 1; n <= 20000; n++ {
			jobs <- n
		}
		close(jobs)
	}()
	total := 0
	for n := 1; n <= 20000; n++ {
		total += <-results
	}
	fmt.Println(total)
}
