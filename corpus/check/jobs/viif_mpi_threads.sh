#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
#SBATCH --time=1:00:00 --mem=8G
module load openmpi/4.1.5
export OMP_NUM_THREADS=$SLURM_CPUS_ON_NODE
srun --cpus-per-task=4 /opt/bin/hybrid
