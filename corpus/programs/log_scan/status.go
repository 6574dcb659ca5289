package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
)

var pattern = regexp.MustCompile(`"(GET|POST) ([^ ]+) [^"]*" (\d+) (\d+)`)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer file.Close()
	counts := map[string]int{}
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		if m := pattern.FindStringSubmatch(scanner.Text()); m != nil {
			counts[m[3]]++
		}
	}
	fmt.Println(counts)
}
