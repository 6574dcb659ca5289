#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
module load gcc openmpi
module load hdf5
module list 2>&1 | grep -q gcc || echo "modules are quiet here"
