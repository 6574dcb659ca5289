#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
for round in 1 2 3; do
    echo "$round" > current.txt
    awk '{ print $1 * 2 }' current.txt >> doubled.txt
done
test "$(wc -l < doubled.txt)" -eq 3
