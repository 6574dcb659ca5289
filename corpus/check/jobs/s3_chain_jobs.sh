#!/bin/bash
# run on the login node: three stages, each after the one before
set -eu
first=$(sbatch --parsable --time=10 --mem=1G --wrap='seq 9 > a.txt')
second=$(sbatch --parsable --dependency="afterok:$first" --time=10 --mem=1G --wrap='sort -r a.txt > b.txt')
sbatch --dependency="afterok:${second}" --array=1-4 --time=10 --mem=1G --wrap='head -n $SLURM_ARRAY_TASK_ID b.txt'
