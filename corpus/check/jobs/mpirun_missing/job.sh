#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --mem-per-cpu=1G
#SBATCH -t 1:00:00
set -e
module load openmpi/4.1.5
mpirun -np 4 ./bin/euler input.nml
