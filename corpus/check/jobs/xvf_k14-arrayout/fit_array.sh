#!/usr/bin/env bash
#SBATCH --job-name=fit-array
#SBATCH --array=1-8%4
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00
#SBATCH --output=fit_%A_%a.log

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
outdir=results/seed_$(printf '%03d' "$SLURM_ARRAY_TASK_ID")
mkdir -p "$outdir"

if (( SLURM_ARRAY_TASK_ID == SLURM_ARRAY_TASK_MIN )); then
    echo '{"n": 200, "noise": 0.1}' > results/params.json
fi
cd "$outdir"
python3 "$SLURM_SUBMIT_DIR/fit.py" --seed "$SLURM_ARRAY_TASK_ID"
