#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --time=10
#SBATCH --mem=1G
set -e
gfortran -o sweep sweep.f90
./sweep
