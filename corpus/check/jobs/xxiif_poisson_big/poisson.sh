#!/bin/bash
#SBATCH --job-name=poisson
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=2-00:00:00
set -e
gfortran -O3 -o poisson poisson.f90
./poisson
test -s centre.txt
