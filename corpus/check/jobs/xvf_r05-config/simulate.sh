#!/usr/bin/env bash
#SBATCH --job-name=simulate
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:10:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p results
exec python3 -m walker --config config/run.json --out results/walk.csv
