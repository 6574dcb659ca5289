package main

import (
	"fmt"
	"runtime"
	"time"
)

func main() {
	for now := range time.Tick(5 * time.Second) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Println(now.Format(time.RFC3339), m.HeapAlloc)
	}
}
