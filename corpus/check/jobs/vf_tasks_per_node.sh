#!/bin/bash
#SBATCH --partition=main
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=32
#SBATCH --time=1:00:00
#SBATCH --mem=20G
module load openmpi/4.1.5
srun ./a.out
