#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
#SBATCH -c 4
set -e
make -j "$SLURM_CPUS_PER_TASK" life
./life
