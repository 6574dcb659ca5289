package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
)

type step struct {
	At   float64 `json:"at"`
	What string  `json:"what"`
}

type event struct {
	ID    int            `json:"id"`
	User  map[string]any `json:"user"`
	Steps []step         `json:"steps"`
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	rounds, _ := strconv.Atoi(os.Args[2])
	for r := 0; r < rounds; r++ {
		users := map[string][]step{}
		for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			var e event
			if err := json.Unmarshal(line, &e); err != nil {
				log.Fatal(err)
			}
			name := e.User["name"].(string)
			users[name] = append(users[name], e.Steps...)
		}
		out, _ := json.MarshalIndent(users, "", " ")
		fmt.Println(r, len(users), len(out))
		if r == rounds-1 {
			os.WriteFile("users.json", out, 0o644)
		}
	}
}
