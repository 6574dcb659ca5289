#!/bin/bash
#SBATCH -J lines
#SBATCH -t 30
#SBATCH --mem=1G
set -eu
printf 'a\nb\nc\n' > names.txt
name=$(sed -n "${SLURM_ARRAY_TASK_ID}p" names.txt)
echo "$name" > "$name.out"
