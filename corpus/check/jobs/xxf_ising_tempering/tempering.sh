#!/bin/bash
#SBATCH --job-name=ising_pt
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --mem-per-cpu=1G
#SBATCH --time=0-06:00

# Parallel tempering: replica i at T = 2.0 + 0.02 i, swaps with the neighbour
module load gcc/12.2.0 openmpi/4.1.5
set -e
mpicc -O3 -o pt pt.c -lm

REPLICAS=32
mpirun -np $REPLICAS ./pt 64 1000000 > energies.txt
