#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
for i in $(seq 1 100000); do
    echo "$i $((i % 7))"
done > series.txt
wc -l < series.txt
