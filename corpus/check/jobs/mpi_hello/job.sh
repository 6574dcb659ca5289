#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=16
#SBATCH --time=00:30:00
#SBATCH --mem-per-cpu=2G
#SBATCH --partition=main
module load gcc/12.2.0 openmpi/4.1.5
mpicc -O2 -o mpi_hello mpi_hello.c
export PATH=$PATH:.
mpirun -np "$SLURM_NTASKS" mpi_hello
