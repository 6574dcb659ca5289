#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=8
#SBATCH --mem-per-cpu=1G
#SBATCH --time=1:00:00
module load gcc/12.2.0 openmpi/4.1.5 lammps/2023
mpirun -np 64 lmp -in in.melt -log none
