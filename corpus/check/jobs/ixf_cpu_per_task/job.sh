#!/bin/bash
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --mem=4G
set -u

export OMP_NUM_THREADS=$SLURM_CPU_PER_TASK
echo "Using $OMP_NUM_THREADS threads"
python3 model.py
