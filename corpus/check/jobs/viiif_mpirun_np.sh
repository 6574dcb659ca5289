#!/bin/bash
#SBATCH -N 2
#SBATCH --ntasks-per-node=8
#SBATCH -t 12:00:00
#SBATCH --mem=30G
NP=64
module load gcc/12.2.0 openmpi/4.1.5
mpirun -np $NP /opt/flow/bin/pimpleFoam -parallel
