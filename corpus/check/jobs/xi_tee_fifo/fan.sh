#!/bin/bash
#SBATCH --job-name=fan
#SBATCH --time=5
#SBATCH --mem=100M
set -eu
P=$(mktemp -u ./pipe.XXXXXX)
mkfifo "$P"
trap 'rm -f "$P"' EXIT

wc -l < "$P" > n.txt &
reader=$!

tee "$P" < values.txt | tee >(awk '$1 >= 10' > big.txt) | awk '$1 < 10' > small.txt
wait "$reader"
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s big.txt ] && break; sleep 0.2; done
test -s big.txt
