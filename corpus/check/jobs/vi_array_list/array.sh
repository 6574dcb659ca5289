#!/bin/bash
#SBATCH --array=2-4%2
#SBATCH --time=30
#SBATCH --mem-per-cpu=500M
# line 1 of the list is the header
line=$(sed -n "${SLURM_ARRAY_TASK_ID}p" samples.tsv)
IFS=$'\t' read -r sample lane file <<< "$line"
[ -n "$sample" ] || { echo "no line $SLURM_ARRAY_TASK_ID" >&2; exit 1; }
mkdir -p out/"$sample"
sort -u "$file" > "out/$sample/${lane}.sorted"
