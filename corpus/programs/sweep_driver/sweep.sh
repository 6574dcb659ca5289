#!/bin/bash
#SBATCH --job-name=orbit-sweep
#SBATCH --time=00:20:00
here=$(cd "$(dirname "$0")" && pwd)
gcc -O2 -o orbit "$here/orbit.c" -lm || exit 1
: > drift.txt
for ((k = 1; k <= $1; k++)); do
    dt=$(awk -v k="$k" 'BEGIN { print 0.0005 * k }')
    ./orbit "$dt" "$2" >> drift.txt
    sleep 0.01
done
sort -g -k2 drift.txt | tail -n 3
