#!/usr/bin/env bash
#SBATCH --job-name=mesh-driver
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:10:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
source lib/stages.sh

mkdir -p out
run_stage coarse 10
run_stage fine 40
