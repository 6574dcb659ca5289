#!/bin/bash
#SBATCH -J ising
#SBATCH -t 03:00:00
#SBATCH --mem=4G
#SBATCH --cpus-per-task=4
module load julia/1.9.3
export JULIA_NUM_THREADS=$SLURM_CPUS_PER_TASK
julia --project=. ising.jl 64 2.27
