#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=2G
#SBATCH -c 2
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
python3 -u walk.py --nsteps 500 \
    --seed "$SLURM_JOB_ID"
