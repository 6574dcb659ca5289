// Seals audit entries in groups: each group gets a proof-of-work stamp so that
// rewriting history is expensive. One Sync at the very end.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"strconv"
)

func stamp(prev [32]byte, entry string, zeros int) (uint64, [32]byte) {
	buf := append(prev[:], entry...)
	buf = append(buf, make([]byte, 8)...)
	for nonce := uint64(0); ; nonce++ {
		binary.BigEndian.PutUint64(buf[len(buf)-8:], nonce)
		sum := sha256.Sum256(buf)
		if bits.LeadingZeros32(binary.BigEndian.Uint32(sum[:4])) >= zeros {
			return nonce, sum
		}
	}
}

func main() {
	entries, _ := strconv.Atoi(os.Args[1])
	zeros, _ := strconv.Atoi(os.Args[2])
	f, err := os.Create("sealed.log")
	if err != nil {
		panic(err)
	}
	out := bufio.NewWriter(f)
	var prev [32]byte
	for i := 0; i < entries; i += 1000 {
		entry := fmt.Sprintf("group %d..%d", i, i+999)
		nonce, sum := stamp(prev, entry, zeros)
		fmt.Fprintf(out, "%s nonce=%d %x\n", entry, nonce, sum[:8])
		prev = sum
	}
	out.Flush()
	f.Sync()
	f.Close()
}
