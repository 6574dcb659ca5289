#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=1G
#SBATCH -t 1-0
export OMP_NUM_THREADS=4 OMP_PLACES=cores OMP_PROC_BIND=close
module load openmpi/4.1.5
export PATH="$HOME/apps/hybrid/bin:$PATH"
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" hybrid.x
