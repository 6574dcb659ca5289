#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
#SBATCH -n 1
set -e
gcc -O2 -o diffuse diffuse.c
srun ./difuse 100
