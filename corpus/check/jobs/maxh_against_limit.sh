#!/bin/bash
#SBATCH --job-name=prod
#SBATCH --time=12:00
#SBATCH --cpus-per-task=16
#SBATCH --mem=16G
module load gromacs/2023.2
gmx mdrun -deffnm prod -maxh 11.8 -ntomp 16
