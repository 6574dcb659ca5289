#!/bin/bash
set -euo pipefail

#SBATCH --job-name=gridsearch
#SBATCH --array=1-3
#SBATCH --mem=4G
#SBATCH --time=02:00:00

LR=(x 0.1 0.01 0.001)
mkdir -p scores
python3 train.py --fold "$SLURM_ARRAY_TASK_ID" --lr "${LR[$SLURM_ARRAY_TASK_ID]}" \
    > "scores/fold.$SLURM_ARRAY_TASK_ID.txt"
