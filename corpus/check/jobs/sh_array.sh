#!/bin/sh
#SBATCH -t 10
#SBATCH --mem=100M
temps=(280 290 300)
for t in "${temps[@]}"; do
    echo "$t" >> temps.txt
done
