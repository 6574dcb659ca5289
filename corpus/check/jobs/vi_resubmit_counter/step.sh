#!/bin/bash
#SBATCH --time=01:00:00
#SBATCH --mem=2G
STEP=${1:-1}
LAST=10
set -e
python3 advance.py "$STEP"
if [ "$STEP" -lt "$LAST" ]; then
    sbatch --dependency=afterok:"$SLURM_JOB_ID" "$0" $((STEP + 1))
fi
