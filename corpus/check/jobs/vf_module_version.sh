#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=4G
#SBATCH --ntasks=4
module load gcc/13.1.0 openmpi/4.1.5
mpicc -v
