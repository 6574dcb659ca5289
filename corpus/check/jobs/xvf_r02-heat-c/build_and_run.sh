#!/usr/bin/env bash
#SBATCH --job-name=heat
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=00:15:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

make -j "$SLURM_CPUS_PER_TASK"
./heat 100 > profile.txt
