#!/bin/bash
#SBATCH --array=0-19
#SBATCH --time=30
#SBATCH --mem=1G
alphas=($(seq 0.05 0.05 1.0))
a=${alphas[$SLURM_ARRAY_TASK_ID]}
python3 lasso.py --alpha "$a" > results.csv
