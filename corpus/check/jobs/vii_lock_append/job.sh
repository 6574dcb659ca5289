#!/bin/bash
#SBATCH --array=0-9
#SBATCH --time=10 --mem=200M
# all tasks append to one table, one after the other
row="$SLURM_ARRAY_TASK_ID $((RANDOM % 7))"
(
  flock -w 60 9 || exit 1
  echo "$row" >> table.txt
) 9> table.lock
