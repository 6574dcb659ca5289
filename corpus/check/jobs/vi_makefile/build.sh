#!/bin/bash
#SBATCH -c 4 --time=10 --mem=1G
set -e
make -j"${SLURM_CPUS_PER_TASK:-1}" CFLAGS="-O2 -std=c11"
./bin/stats < numbers.txt
make clean
