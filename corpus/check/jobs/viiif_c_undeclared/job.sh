#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
gcc -O2 -std=c11 -Wall -o sumsq sumsq.c
./sumsq 1000
