package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// Thumbnails of random pictures in a pack: a seek and a short read each.
func main() {
	pack, err := os.OpenFile(os.Args[1], os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	n, _ := strconv.Atoi(os.Args[2])
	info, _ := pack.Stat()
	memory := make([]byte, 16384+4096)
	shift := 4096 - int(addr(memory)%4096)
	buffer := memory[shift : shift+16384]
	sum := 0
	rng := rand.New(rand.NewSource(1))
	for i := 0; i < n; i++ {
		at := rng.Int63n(info.Size()/16384) * 16384
		if _, err := pack.ReadAt(buffer, at); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		sum += int(buffer[100])
	}
	fmt.Println(sum)
}

func addr(b []byte) uintptr {
	return uintptr(unsafe.Pointer(&b[0]))
}
