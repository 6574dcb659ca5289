#!/usr/bin/env bash
#SBATCH --job-name=seir
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=3G
#SBATCH --time=00:30:00
#SBATCH --output=logs/seir-%j.out

module load julia/1.9.3
set -euo pipefail

export JULIA_NUM_THREADS="${SLURM_CPUS_PER_TASK:?not in a Slurm job}"
export JULIA_DEPOT_PATH="${TMPDIR:-/tmp}/depot_${SLURM_JOB_ID}:"

julia --project=. -e 'println("threads: ", Threads.nthreads(), "; it'"'"'s fine")'
julia --project=. src/run.jl data/regions.csv peaks.csv

if [[ ! -s peaks.csv ]]; then
    echo "no result" >&2
    exit 1
fi
