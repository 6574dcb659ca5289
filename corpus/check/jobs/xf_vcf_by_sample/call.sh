#!/bin/bash
#SBATCH --job-name=callvar
#SBATCH --array=0-3
#SBATCH --cpus-per-task=2
#SBATCH --mem=6G
#SBATCH --time=04:00:00
#SBATCH --output=slurm_logs/call_%A_%a.out

set -uo pipefail

LIST=samples.txt
SAMPLE=$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$LIST")
echo "task $SLURM_ARRAY_TASK_ID -> $SAMPLE"

mkdir -p calls
awk -v s="$SAMPLE" '$1 == s && $4 != $5 { print $2, $3, $4, $5 }' genotypes.tsv > calls/"$SAMPLE".txt
wc -l calls/"$SAMPLE".txt
