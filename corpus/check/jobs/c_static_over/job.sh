#!/bin/bash
#SBATCH --mem=500M
#SBATCH --time=20
set -e
gcc -O1 grid.c -o grid
./grid
