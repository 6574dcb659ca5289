#!/bin/bash
#SBATCH --array=1-4
#SBATCH -o done_%a.log
#SBATCH -t 10
#SBATCH --mem=100M
# one short line per task, under a lock
exec 9> list.lock
flock 9
echo "$SLURM_ARRAY_TASK_ID" >> finished.txt
