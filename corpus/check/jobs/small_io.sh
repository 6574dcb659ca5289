#!/bin/bash
#SBATCH -t 8:00:00
#SBATCH --mem=2G
#SBATCH -J trace
for i in $(seq 1 1000000); do
    echo "$i $RANDOM" >> trace.txt
done
