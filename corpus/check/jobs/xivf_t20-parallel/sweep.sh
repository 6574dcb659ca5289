#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=6
#SBATCH --mem=12G
#SBATCH --time=01:00:00

mkdir -p out
seq 1 96 | xargs -P 48 -I{} sh -c 'awk -f ising.awk -v seed={} > out/run_{}.txt'
cat out/run_*.txt > all.txt
