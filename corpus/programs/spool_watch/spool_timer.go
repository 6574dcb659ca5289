package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	dir := os.Args[1]
	limit, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	deadline := time.After(limit)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	n, moved := 0, 0
	for {
		select {
		case <-deadline:
			fmt.Println("deadline reached,", moved, "moved")
			return
		case now := <-ticker.C:
			n++
			if n%7 == 0 {
				os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.in", n)), []byte(now.String()), 0o644)
			}
			found, _ := filepath.Glob(filepath.Join(dir, "*.in"))
			for _, name := range found {
				if os.Rename(name, name[:len(name)-3]+".done") == nil {
					moved++
				}
			}
		}
	}
}
