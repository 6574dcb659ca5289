#!/bin/bash
#SBATCH --array=0-4
#SBATCH --time=10
#SBATCH --mem=100M
LOCK=results.lock
until mkdir "$LOCK" 2> /dev/null; do sleep $((RANDOM % 3)); done
trap 'rmdir "$LOCK"' EXIT
printf '%d\t%d\n' "$SLURM_ARRAY_TASK_ID" $((SLURM_ARRAY_TASK_ID ** 2)) >> results.tsv
