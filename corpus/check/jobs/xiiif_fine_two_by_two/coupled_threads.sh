#!/bin/bash
#SBATCH --job-name=twins
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=800M
#SBATCH --time=00:30:00
#SBATCH --output=twins_%j.out

# matched pairs: control and treated lattice evolve side by side
set -euo pipefail

gcc -O2 -fopenmp -o voter voter.c
export OMP_NUM_THREADS=$(( SLURM_CPUS_PER_TASK / 2 ))

pair() {
    local seed=$1
    ./voter "$seed" 0.00 > "control_${seed}.txt" & local a=$!
    ./voter "$seed" 0.02 > "treated_${seed}.txt" & local b=$!
    wait "$a" && wait "$b"
}

for seed in 11 12 13; do
    pair "$seed"
done

paste -d' ' <(cat control_1[1-3].txt) <(cat treated_1[1-3].txt) |
    awk '{ d += $4 - $2; n++ } END { printf "mean difference %.4f over %d pairs\n", d / n, n }'
