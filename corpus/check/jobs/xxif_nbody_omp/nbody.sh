#!/bin/bash
#SBATCH --job-name=nbody
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=03:00:00
#SBATCH --output=nbody-%j.out

set -eo pipefail
cd "$SLURM_SUBMIT_DIR"

gcc -O3 -fopenmp -o nbody nbody.c -lm

export OMP_NUM_THREADS=16
export OMP_PROC_BIND=close

echo "threads: $OMP_NUM_THREADS"
time ./nbody 20000 100 > energy.txt
