package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
)

var href = regexp.MustCompile(`href="([^"]+)"`)

func visit(base, path string) ([]string, error) {
	resp, err := http.Get(base + path)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	var out []string
	for _, m := range href.FindAllStringSubmatch(string(body), -1) {
		out = append(out, m[1])
	}
	return out, err
}

func main() {
	most, _ := strconv.Atoi(os.Args[2])
	todo, depth := []string{"/page/5"}, map[string]int{"/page/5": 0}
	for visited := 0; len(todo) > 0 && visited < most; visited++ {
		path := todo[0]
		todo = todo[1:]
		links, err := visit(os.Args[1], path)
		if err != nil {
			fmt.Fprintln(os.Stderr, path, err)
			continue
		}
		for _, l := range links {
			if _, ok := depth[l]; !ok {
				depth[l] = depth[path] + 1
				todo = append(todo, l)
			}
		}
	}
	fmt.Println(len(depth), "known pages")
}
