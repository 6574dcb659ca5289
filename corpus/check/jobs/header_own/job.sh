#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
gcc -O3 -o solve solve.c
./solve
