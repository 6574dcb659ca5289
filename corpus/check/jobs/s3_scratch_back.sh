#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -euo pipefail
scratch=$(mktemp -d)
cleanup() { rm -rf "$scratch"; }
trap cleanup EXIT
cd "$scratch"
seq 1000 | awk '{ s += sqrt($1) } END { printf "%.3f\n", s }' > energy.dat
cp energy.dat "$SLURM_SUBMIT_DIR"/
