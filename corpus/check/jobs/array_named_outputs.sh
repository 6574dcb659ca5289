#!/bin/bash
#SBATCH --array=1-50%10
#SBATCH -o walk_%A_%a.log
#SBATCH -t 10
#SBATCH --mem=500M
out=$(printf 'walk_%03d.csv' "$SLURM_ARRAY_TASK_ID")
awk -v s="$SLURM_ARRAY_TASK_ID" 'BEGIN {srand(s); for (i = 0; i < 10; i++) print rand()}' > "$out"
cd "$(mktemp -d)" && echo scratch > result.txt
