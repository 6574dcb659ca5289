#!/bin/bash
#SBATCH --array=1-50000%100
#SBATCH -t 30
#SBATCH --mem=1G
#SBATCH -o sim_%a.out
echo "seed $SLURM_ARRAY_TASK_ID"
