#!/usr/bin/env bash
#SBATCH --job-name=dense
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:20:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
trap 'rm -f dense' EXIT
gfortran -O2 -std=f2008 -o dense src/dense.f90
./dense
