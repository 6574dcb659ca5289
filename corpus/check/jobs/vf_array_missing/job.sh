#!/bin/bash
#SBATCH --job-name=boot
#SBATCH --time=30
#SBATCH --mem=1G
set -eu
seed=$((SLURM_ARRAY_TASK_ID * 17))
echo "$seed" > boot.txt
