#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
gcc -O2 -Wall -o decay decay.c -lm
./decay 0.5
