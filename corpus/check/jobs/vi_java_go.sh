#!/bin/bash
#SBATCH --mem=6G --time=20 -c 2
set -e
export HOME=$TMPDIR GOCACHE=$TMPDIR/go GO111MODULE=off
mkdir -p src
cat > src/Count.java <<'J'
import java.util.*;
import java.util.stream.*;

public class Count {
    record Pair<T>(T key, long n) {}
    public static void main(String... args) {
        var m = Stream.of(args).collect(Collectors.groupingBy(s -> s, TreeMap::new, Collectors.counting()));
        for (var e : m.entrySet()) System.out.println(new Pair<>(e.getKey(), e.getValue()));
        String s = switch (args.length) { case 0 -> "none"; case 1, 2 -> "few"; default -> { yield "many"; } };
        System.out.printf("%s%n", s);
    }
}
J
java -Xmx512m -Xss2m src/Count.java a b a
cat > main.go <<'G'
package main

import (
	"fmt"
	"os"
	"sync"
)

type num interface{ ~int | ~float64 }

func sum[T num](xs ...T) (t T) {
	for _, x := range xs {
		t += x
	}
	return
}

func main() {
	var wg sync.WaitGroup
	out := make(chan int, 4)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func(k int) { defer wg.Done(); out <- k * k }(i)
	}
	go func() { wg.Wait(); close(out) }()
	total := 0
	for v := range out {
		total += v
	}
	fmt.Fprintln(os.Stdout, total, sum(1.5, 2.0))
}
G
go run main.go
