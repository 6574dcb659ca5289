#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
set -eo pipefail
seq 5 > od600.txt
awk '{ s += $1 } END { print s / NR ' od600.txt > mean.txt
cat mean.txt
