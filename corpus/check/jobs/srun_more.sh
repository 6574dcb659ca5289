#!/bin/bash
#SBATCH --ntasks=4
#SBATCH -t 30
#SBATCH --mem-per-cpu=1G
module load openmpi/4.1.5
srun -n 16 ./solver input.dat
