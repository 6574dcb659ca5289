#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
set -e
gcc -O2 -o wordfreq wordfreq.cpp
./wordfreq < wordfreq.cpp
