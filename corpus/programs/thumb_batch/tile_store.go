package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Cuts a synthetic map into tiles, each in its own file.
func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	tile := make([]byte, 256*256*3)
	for n := 0; n < count; n++ {
		for i := range tile {
			tile[i] = byte(i ^ n)
		}
		dir := filepath.Join("tiles", strconv.Itoa(n/100))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			panic(err)
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.rgb", n)))
		if err != nil {
			panic(err)
		}
		f.Write(tile)
		if err := f.Sync(); err != nil {
			panic(err)
		}
		f.Close()
	}
	fmt.Println(count, "tiles")
}
