#!/usr/bin/env bash
#SBATCH --job-name=build
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=1G
#SBATCH --time=00:10:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
make -j"${SLURM_CPUS_PER_TASK:-1}" all
./build/app | grep -q '1\.4\.2'
