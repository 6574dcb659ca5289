#!/bin/bash
#SBATCH --mem=8G
#SBATCH --mem-per-cpu=2G
#SBATCH -n 4
#SBATCH --time=2:00:00
srun -n 4 hostname
