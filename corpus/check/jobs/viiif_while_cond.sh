#!/bin/bash
#SBATCH --time=01:00:00
#SBATCH --mem=500M
set -u
step=0
max=5
while [ $step -lt $max ]; do
    echo "step $step of $max" >> progress.txt
    sleep 0.2
done
