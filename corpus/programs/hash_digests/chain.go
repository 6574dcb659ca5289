package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
)

// A toy proof of work: blocks whose digest begins with some zero bits.
func main() {
	blocks, _ := strconv.Atoi(os.Args[1])
	bits, _ := strconv.Atoi(os.Args[2])
	var previous [32]byte
	for b := 0; b < blocks; b++ {
		var input [40]byte
		copy(input[:], previous[:])
		for nonce := uint64(0); ; nonce++ {
			binary.LittleEndian.PutUint64(input[32:], nonce)
			digest := sha256.Sum256(input[:])
			if binary.BigEndian.Uint32(digest[:4])>>(32-bits) == 0 {
				previous = digest
				break
			}
		}
	}
	fmt.Printf("%x\n", previous)
}
