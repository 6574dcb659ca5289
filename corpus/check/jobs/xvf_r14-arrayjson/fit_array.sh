#!/usr/bin/env bash
#SBATCH --job-name=fit-array
#SBATCH --array=1-8
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00
#SBATCH --output=fit_%A_%a.log

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p results
python3 fit.py --seed "$SLURM_ARRAY_TASK_ID" --outdir results
