#!/usr/bin/env bash
#SBATCH --job-name=mk
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
make -f Makefile report.txt
test -s report.txt
