#!/bin/bash
#SBATCH -J percolate
#SBATCH -p gpu -N1 -n1 -c8
#SBATCH --mem=16G
#SBATCH -t 2:00:00

set -euo pipefail
module load gcc/12.2.0 cuda/12.1
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > cmake.log
cmake --build build -j "$SLURM_CPUS_PER_TASK" >> cmake.log

for p in 0.58 0.59 0.5927 0.60; do
    srun build/percolate "$p" 8192 > "clusters_$p.txt"
done
