package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	base := os.Args[1]
	n, _ := strconv.Atoi(os.Args[2])
	client := &http.Client{Timeout: 5 * time.Second}
	limiter := time.NewTicker(450 * time.Millisecond)
	defer limiter.Stop()
	total := 0
	for i := 0; i < n; i++ {
		<-limiter.C
		resp, err := client.Get(fmt.Sprintf("%s/item/%d", base, i))
		if err != nil {
			log.Fatal(err)
		}
		var item struct {
			ID   int
			Name string
		}
		err = json.NewDecoder(resp.Body).Decode(&item)
		resp.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		total += item.ID
	}
	fmt.Println("sum of ids", total)
}
