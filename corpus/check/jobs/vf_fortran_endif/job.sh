#!/bin/bash
#SBATCH --time=10 --mem=500M
set -e
gfortran -o solve solve.f90
./solve
