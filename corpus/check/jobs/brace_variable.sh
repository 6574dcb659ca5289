#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=500M
REPEATS=5
for r in {1..$REPEATS}; do
    echo "replicate $r"
    echo "$r" > "rep_$r.txt"
done
