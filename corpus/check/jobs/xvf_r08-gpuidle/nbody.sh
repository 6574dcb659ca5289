#!/usr/bin/env bash
#SBATCH --job-name=nbody
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --gres=gpu:4
#SBATCH --mem=2G
#SBATCH --time=04:00:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

gcc -O2 -o nbody nbody.c -lm
./nbody 200000 > energy.txt
