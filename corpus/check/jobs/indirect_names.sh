#!/bin/bash
#SBATCH --job-name=indirect
#SBATCH --time=5
#SBATCH --mem=200M
set -euo pipefail
threshold_low=2
threshold_high=8
for level in low high; do
    name=threshold_$level
    printf -v "file_$level" 'cut_%s_%d.txt' "$level" "${!name}"
done
seq 1 10 | awk -v t="$threshold_low" '$1 < t' > "$file_low"
seq 1 10 | awk -v t="$threshold_high" '$1 > t' > "$file_high"
wc -l -- "$file_low" "$file_high"
