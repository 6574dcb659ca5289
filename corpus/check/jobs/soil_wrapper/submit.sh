#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=1G
set -e
for depth in 10 20 40; do
    ./profile.sh $depth
done
