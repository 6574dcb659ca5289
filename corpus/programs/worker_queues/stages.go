package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Three stages of a pipeline; the camera in front delivers ten frames per second.
func camera(frames int) <-chan []byte {
	out := make(chan []byte)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for f := 0; f < frames; f++ {
			<-tick.C
			out <- make([]byte, 64*64)
		}
		close(out)
	}()
	return out
}

func threshold(in <-chan []byte) <-chan int {
	out := make(chan int, 4)
	go func() {
		for frame := range in {
			n := 0
			for i, p := range frame {
				if int(p)+i%256 > 128 {
					n++
				}
			}
			out <- n
		}
		close(out)
	}()
	return out
}

func main() {
	frames, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	total := 0
	for n := range threshold(camera(frames)) {
		total += n
	}
	fmt.Println(total)
}
