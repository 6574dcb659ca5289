#!/bin/bash
#SBATCH --job-name=nbody
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=06:00:00

set -e
# built in the job so that it fits the node's CPU
g++ -O2 -std=c++17 -o nbody main.cpp
./nbody 2000 > energy.dat
tail -n 1 energy.dat
