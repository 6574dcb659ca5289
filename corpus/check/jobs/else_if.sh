#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
n=$((SLURM_JOB_ID % 3))
if [ "$n" -eq 0 ]; then
    echo zero
else if [ "$n" -eq 1 ]; then
    echo one
else
    echo two
fi
echo "n was $n"
