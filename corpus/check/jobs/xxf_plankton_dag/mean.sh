#!/bin/bash
set -eu
node=$1
cruise=${node%%+*}
awk -F, 'NR > 1 {s += $2} END {printf "%.2f\n", s / (NR - 1)}' "counts/$cruise.csv" > "$node.txt"
