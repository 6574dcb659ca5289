#!/bin/bash
#SBATCH --ntasks=4
#SBATCH --time=1:00:00
#SBATCH --mem-per-cpu=2G
module load gromacs/2023.2
srun -n 8 gmx_mpi mdrun -deffnm nvt
