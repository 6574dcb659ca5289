#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
seq 20 | awk '{print $1 * $1}' > results/squares.txt
wc -l results/squares.txt
