#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=4G
#SBATCH --cpus-per-task=4
module load julia/1.9.3
julia --threads=$SLURM_CPUS_PER_TASK ising.jl 64
