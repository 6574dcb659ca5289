#!/bin/bash
#SBATCH --time=10 --mem=2G
set -e
gcc -O2 -o big big.c
./big
