#!/bin/bash
#SBATCH --time=20:00
#SBATCH --mem=1G
set -e
gfortran -O2 -o orbit orbit.f90
./orbit > orbit.dat
