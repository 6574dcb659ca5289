#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=4G
#SBATCH --cpus-per-task=4
export OMP_NUM_THREADS=16
export OMP_PLACES=cores
/opt/lammps/bin/lmp -sf omp -in /opt/lammps/bench/in.lj
