#!/bin/bash
# exact probe hits on one genome
g=$1
: > "$g.hits"
: > "$g.problems"

seq=$(grep -v '^>' "$g.fa" | tr -d '\n' | tr acgt ACGT)
while read -r name probe; do
    if [[ $probe =~ [^ACGT] ]]; then
        echo "$name: not a DNA probe" >> "$g.problems"
        continue
    fi
    rest=$seq
    n=0
    while [[ $rest == *"$probe"* ]]; do
        rest=${rest#*"$probe"}
        n=$((n + 1))
    done
    printf '%s\t%s\t%d\n' "$g" "$name" "$n" >> "$g.hits"
done < probes.txt

# number of problems, for the log
grep -c "not a DNA probe" "$g.problems"
