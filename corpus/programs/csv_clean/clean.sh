#!/bin/bash
here=$(dirname "$0")
for ((k = 0; k < $2; k++)); do
    awk -v k="$k" -f "$here/field.awk" "$1" | LC_ALL=C sort | uniq > "clean.$k.csv"
done
wc -l clean.*.csv | tail -n 1
