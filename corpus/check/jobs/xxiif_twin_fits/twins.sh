#!/bin/bash
#SBATCH --job-name=twins
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=3G
#SBATCH --time=00:59:00
set -e
gcc -O2 -fopenmp -o kernel kernel.c -lm

# both sexes at the same time, half of the cores each
export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / 2))
./kernel ages_f.txt > dens_f.txt &
pf=$!
./kernel ages_m.txt > dens_m.txt &
pm=$!
wait $pf
wait $pm
paste dens_f.txt dens_m.txt > density.tsv
