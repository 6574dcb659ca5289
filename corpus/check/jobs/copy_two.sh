#!/bin/bash
#SBATCH --job-name=copy
#SBATCH --time=5
#SBATCH --mem=200M
seq 1 9 > raw.txt
awk '{ s += $1 } END { print s / NR }' raw.txt > mean.txt
sort -rn raw.txt | head -n 1 > max.txt
cp mean.txt max.txt "$SLURM_SUBMIT_DIR/summary"
