#!/bin/bash
#SBATCH --time=00:10:00
#SBATCH --mem=1G
#SBATCH --array=1-4
set -e
python3 sim.py --seed ${SLURM_ARRAY_TASK_ID} > logs/sim_${SLURM_ARRAY_TASK_ID}.log 2>&1
