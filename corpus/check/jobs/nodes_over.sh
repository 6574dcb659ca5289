#!/bin/bash
#SBATCH -J pbc
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=16
#SBATCH --time=04:00:00
#SBATCH --mem-per-cpu=1G
srun hostname
