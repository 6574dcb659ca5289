#!/usr/bin/env bash
#SBATCH --job-name=trajectory
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=01:00:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
WORK=$(mktemp -d)
trap 'rm -rf -- "$WORK"' EXIT
python3 trajectory.py --trace "$WORK/trace.csv"
cp "$WORK/trace.csv" .
