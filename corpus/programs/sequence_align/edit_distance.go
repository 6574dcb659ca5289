package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func distance(a, b []byte) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			if row[j]+1 < cost {
				cost = row[j] + 1
			}
			if row[j-1]+1 < cost {
				cost = row[j-1] + 1
			}
			row[j] = cost
		}
	}
	return row[len(b)]
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	words := make([][]byte, n)
	for i := range words {
		words[i] = make([]byte, 200)
		for k := range words[i] {
			words[i][k] = "ACGT"[(i*k+i*i+k/7)%4]
		}
	}
	results := make(chan int, 64)
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		sum := 0
		for d := range results {
			sum += d
		}
		fmt.Println(sum)
	}()
	for i := range words {
		for j := 0; j < i; j++ {
			results <- distance(words[i], words[j])
		}
	}
	close(results)
	group.Wait()
}
