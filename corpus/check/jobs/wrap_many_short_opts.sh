#!/bin/bash
#SBATCH -Jfast -n2 -t5 -pmain
#SBATCH --export=NONE --no-requeue
#SBATCH -D . -o /dev/null
#SBATCH --mem-per-cpu 512M --kill-on-invalid-dep=yes
#SBATCH --switches=1@10 --profile=none
export SLURM_EXPORT_ENV=ALL
srun -n 2 true
