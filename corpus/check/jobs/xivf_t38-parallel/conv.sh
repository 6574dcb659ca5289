#!/bin/bash
#SBATCH --job-name=conv
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=00:20:00

mkdir -p gz
find texts -name '*.txt' -print0 | xargs -0 -P "${SLURM_CPUS_PER_TASK:-1}" -I{} sh -c 'gzip -c "$1" > "gz/$(basename "$1").gz"' _ {}
ls gz
