#!/bin/bash
#SBATCH --array=0-7
#SBATCH -J temper
#SBATCH --output=temper.log
#SBATCH -t 30
#SBATCH --mem=1G
echo "replica $SLURM_ARRAY_TASK_ID" > "replica_$SLURM_ARRAY_TASK_ID.txt"
