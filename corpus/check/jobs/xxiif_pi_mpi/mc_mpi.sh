#!/bin/bash
#SBATCH --job-name=mc-transport
#SBATCH --partition=main
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --mem-per-cpu=1500M
#SBATCH --time=03:00:00
#SBATCH --output=mc_%j.out

set -e
module load gcc/12.2.0
module load openmpi/4.1.5

mpicc -O2 -o transport transport.c -lm
echo "nodes: $SLURM_JOB_NODELIST"
srun -n 24 ./transport 100000000
