package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

type visit struct {
	last  int64
	count int
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[2])
	for r := 1; r <= rounds; r++ {
		f, err := os.Open(os.Args[1])
		if err != nil {
			panic(err)
		}
		visits := map[string]*visit{}
		sizes := map[string]int64{}
		in := bufio.NewScanner(f)
		for in.Scan() {
			fields := strings.Fields(in.Text())
			if len(fields) < 9 {
				continue
			}
			when, _ := strconv.ParseInt(strings.Trim(fields[3], "[]"), 10, 64)
			size, _ := strconv.ParseInt(fields[8], 10, 64)
			path := strings.SplitN(fields[5], "?", 2)[0]
			sizes[path] += size
			v, ok := visits[fields[0]]
			if !ok {
				v = &visit{}
				visits[fields[0]] = v
			}
			if when-v.last > int64(60*r) {
				v.count++
			}
			v.last = when
		}
		f.Close()
		paths := make([]string, 0, len(sizes))
		for p := range sizes {
			paths = append(paths, p)
		}
		sort.Slice(paths, func(i, j int) bool { return sizes[paths[i]] > sizes[paths[j]] })
		fmt.Println(r, len(visits), paths[0], sizes[paths[0]])
	}
}
