#!/bin/bash
#SBATCH --job-name=months
#SBATCH --time=10
#SBATCH --mem=500M

for month in 06 07 08 09; do
    before=$((month - 1))
    echo "$month follows $before"
done
