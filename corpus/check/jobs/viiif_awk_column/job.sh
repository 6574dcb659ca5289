#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -euo pipefail
awk -F, 'NR > 1 { sum[$1] += $3
     END { for (k in sum) print k, sum[k] }' sales.csv > sums.txt
cat sums.txt
