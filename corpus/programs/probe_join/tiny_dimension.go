package main

import (
	"fmt"
	"os"
	"strconv"
)

type sale struct{ shop, day, cents int }

func main() {
	passes, _ := strconv.Atoi(os.Args[1])
	rows, _ := strconv.Atoi(os.Args[2])
	shops := map[int]string{}
	for i := 0; i < 200; i++ {
		shops[i] = "shop" + strconv.Itoa(i%17)
	}
	sales := make([]sale, rows)
	for i := range sales {
		sales[i] = sale{i * 31 % 211, i % 365, i * 7919 % 5000}
	}
	turnover := map[string]int{}
	for p := 0; p < passes; p++ {
		for _, s := range sales {
			if name, ok := shops[s.shop]; ok && s.day%7 == p%7 {
				turnover[name] += s.cents
			} else if ok {
				turnover["weekday"]++
			}
		}
	}
	fmt.Println(len(turnover), turnover["shop3"])
}
