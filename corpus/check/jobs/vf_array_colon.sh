#!/bin/bash
#SBATCH --array=1:10
#SBATCH --time=30
#SBATCH --mem=1G
echo "$SLURM_ARRAY_TASK_ID"
