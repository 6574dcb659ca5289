#!/usr/bin/env bash
#SBATCH --job-name=trajectory
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=12:00:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
python3 trajectory.py
