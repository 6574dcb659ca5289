#!/bin/bash
#SBATCH --job-name=md-seed
#SBATCH --time=00:20:00
#SBATCH --mem=1G
#SBATCH --array=1-5

SEED=$((1000 + SLURM_ARRAY_TASK_ID))
sed 's/@SEED@/$SEED/' template.inp > "run_${SLURM_ARRAY_TASK_ID}.inp"
grep -q 'seed = [0-9]' "run_${SLURM_ARRAY_TASK_ID}.inp" || { echo "no seed in the input" >&2; exit 2; }
