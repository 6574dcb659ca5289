package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"time"
)

type report struct {
	station int
	value   float64
}

func main() {
	stations, _ := strconv.Atoi(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	reports := make(chan report)
	var all sync.WaitGroup
	for s := 0; s < stations; s++ {
		all.Add(1)
		go func(s int) {
			defer all.Done()
			rng := rand.New(rand.NewSource(int64(s)))
			for i := 0; i < count; i++ {
				time.Sleep(time.Duration(200+rng.Intn(400)) * time.Millisecond)
				reports <- report{s, rng.NormFloat64()}
			}
		}(s)
	}
	go func() {
		all.Wait()
		close(reports)
	}()
	sums := map[int]float64{}
	for r := range reports {
		sums[r.station] += r.value
	}
	fmt.Println(sums)
}
