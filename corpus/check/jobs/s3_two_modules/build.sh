#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
gfortran -c constants.f90
gfortran -c sphere.f90
gfortran -o sphere main.f90 sphere.o constants.o
./sphere
