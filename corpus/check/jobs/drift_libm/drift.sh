#!/bin/bash
#SBATCH --job-name=drift
#SBATCH --time=10
#SBATCH --mem=1G
set -e
gcc -O1 -o drift drift.c
./drift 1.7
