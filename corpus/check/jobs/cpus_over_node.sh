#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=48
#SBATCH --time=02:00:00
#SBATCH --mem=8G
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
awk 'BEGIN {print 4*atan2(1,1)}'
