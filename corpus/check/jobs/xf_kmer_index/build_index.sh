#!/bin/bash
#SBATCH --job-name=kmeridx
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32
#SBATCH --time=12:00:00
#SBATCH --output=kmeridx-%j.log

# table size in GB, needs to stay below the node request
TABLE_GB=24

cd "${SLURM_SUBMIT_DIR:-.}" || exit 1
gcc -O2 -o kmeridx kmeridx.c || exit 1
./kmeridx -g "$TABLE_GB" -k 31 genome.fa genome.idx
