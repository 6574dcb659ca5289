#!/bin/bash
#SBATCH -J many
#SBATCH --array=1-$NFILES
#SBATCH -t 30
#SBATCH --mem=1G
echo "$SLURM_ARRAY_TASK_ID" > "task_$SLURM_ARRAY_TASK_ID.txt"
