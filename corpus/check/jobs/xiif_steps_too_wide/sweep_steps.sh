#!/bin/bash
#SBATCH --job-name=lattice
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=1G
#SBATCH --time=02:00:00
#SBATCH --output=lattice_%j.out

set -euo pipefail
mkdir -p parts

srun --ntasks=8 python3 worker.py couplings.txt parts

cat parts/rank_*.txt | sort -n > spectrum.txt
wc -l spectrum.txt
