#!/bin/bash
#SBATCH --job-name=heat2d
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=0-01:00:00
#SBATCH --output=heat2d.%j.log

set -e
cd "$SLURM_SUBMIT_DIR"

echo "building on $(hostname)"
gfortran -O2 -o heat2d heat2d.f90

echo "running"
./heat2d < heat.in > heat.out
tail -n 3 heat.out
