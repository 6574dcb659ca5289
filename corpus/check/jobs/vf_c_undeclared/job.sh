#!/bin/bash
#SBATCH --time=10 --mem=500M
set -e
gcc -O2 -o hist hist.c
./hist
