#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=16
#SBATCH --time=04:00:00
#SBATCH --mem=32G
module load openmpi/4.1.5
srun --ntasks=32 --mpi=pmix /opt/cp2k/bin/cp2k.psmp -i /home/shared/water.inp
