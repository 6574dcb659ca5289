#!/bin/bash
#SBATCH -t 15
#SBATCH --mem=500M
set -e
gcc -O2 walk.c -o walk -lm
./walk 1000
