#!/usr/bin/env bash
#SBATCH --job-name=serve
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=1G
#SBATCH --time=00:05:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
exec timeout 60 python3 serve.py
