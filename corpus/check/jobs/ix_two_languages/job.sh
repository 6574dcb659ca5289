#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
gcc -O2 -Wall -o gen gen.c -lm
./gen 50 wave.dat
python3 stats.py
