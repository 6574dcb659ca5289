#!/bin/bash
#SBATCH --job-name=months
#SBATCH --array=7-9
#SBATCH --time=00:10:00
#SBATCH --mem=500M
#SBATCH --output=months_%a.log

set -euo pipefail

MONTH=$(printf '%02d' "$SLURM_ARRAY_TASK_ID")
YEAR=2019
NEXT=$((MONTH + 1))
from="$YEAR-$MONTH-01"
to=$(printf '%d-%02d-01' "$YEAR" "$NEXT")

mkdir -p monthly
awk -v a="$from" -v b="$to" '$1 >= a && $1 < b { s += $2; n++ } END { printf "%d %.1f\n", n, (n ? s / n : 0) }' rain.txt > "monthly/$MONTH.txt"
