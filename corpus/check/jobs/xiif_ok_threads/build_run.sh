#!/bin/bash
#SBATCH --job-name=kde
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=4G
#SBATCH --time=00:50:00
#SBATCH --output=kde_%j.out

set -euo pipefail
make -j"$SLURM_CPUS_PER_TASK" kde
# one thread per process: the processes fill the cores
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
seq 1 32 | xargs -P "${SLURM_CPUS_PER_TASK:-1}" -I{} sh -c './kde points.txt {} > bw_{}.txt'
# and once with threads
OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK ./kde points.txt 3 > bw_final.txt
cat bw_*.txt | sort -n -k1,1 > all_bw.txt
