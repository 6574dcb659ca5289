package main

import (
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
)

var hits int64

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "hit", atomic.AddInt64(&hits, 1))
	})
	log.Fatal(http.ListenAndServe(":8090", nil))
}
