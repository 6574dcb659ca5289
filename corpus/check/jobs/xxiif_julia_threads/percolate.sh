#!/bin/bash
#
#SBATCH --job-name=percolation
#SBATCH --partition=main
#SBATCH --nodes=4 --ntasks-per-node=2
#SBATCH --cpus-per-task=8
#SBATCH --mem=62G
#SBATCH --time=12:00:00
set -e
ml julia/1.9.3
# eight independent runs, one per task; the rank is in the name of the output
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c \
    'julia -t $SLURM_CPUS_PER_TASK percolate.jl 0.59 512 $SLURM_PROCID > perc_$SLURM_PROCID.txt'
cat perc_?.txt
