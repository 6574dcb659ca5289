#!/usr/bin/env bash
#SBATCH --job-name=dense
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=02:00:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

gfortran -O2 -o dense src/dense.f90
./dense
