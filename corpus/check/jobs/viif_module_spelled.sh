#!/bin/bash
#SBATCH --time=2:00:00 --mem=4G
#SBATCH --ntasks=8
module purge
module load gromac/2023.2
srun gmx_mpi mdrun -deffnm npt
