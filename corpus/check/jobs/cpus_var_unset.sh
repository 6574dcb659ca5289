#!/bin/bash
#SBATCH --ntasks=1
#SBATCH -t 30
#SBATCH --mem=1G
set -u
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
awk 'BEGIN {print 1}'
