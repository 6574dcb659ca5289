#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
#SBATCH --cpus-per-task=2
set -e
seq 6 | xargs -P "$SLURM_CPUS_PER_TASK" -I{} sh -c 'echo "$(( {} * {} ))" > square_{}.txt'
cat square_*.txt | sort -n | tail -n 1
