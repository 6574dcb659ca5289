#!/bin/bash
#SBATCH -J ising
#SBATCH -t 1-00
#SBATCH -c 8
#SBATCH --mem-per-cpu=2000
module load julia/1.9.3
export JULIA_DEPOT_PATH="${SLURM_TMPDIR:-/tmp}/depot:${JULIA_DEPOT_PATH:-}"
julia --project=. --threads="$SLURM_CPUS_PER_TASK" ising.jl --size 128 --beta=0.44
