#!/bin/bash
#SBATCH -t 30
#SBATCH -c 4
#SBATCH --mem=2G
make -j"$SLURM_CPUS_PER_TASK" all
./hello
