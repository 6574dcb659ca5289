#!/bin/bash
#SBATCH -J blade
#SBATCH -p gpu
#SBATCH --gres=gpu:a100:2
#SBATCH -c 16
#SBATCH --mem=20G
#SBATCH -t 12:00:00

# Turbine blade, internal cooling channels; 2-D slice, explicit scheme
module load gcc/12.2.0
set -e

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export OMP_PROC_BIND=close

gcc -O3 -fopenmp -o heat heat.c -lm
echo "start $(date) on $(hostname)"
srun -c "$SLURM_CPUS_PER_TASK" ./heat 4000 200000 > blade.log
tail -n 3 blade.log
