#!/bin/bash
#SBATCH --job-name=heat
#SBATCH --ntasks=1
#SBATCH --time=0:30:00
#SBATCH --mem=1G
set -e
gcc -O2 -I include -o heat src/heat.c -lm
./heat 40 > profile.dat
tail -n 1 profile.dat
