#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
n=0
if [$n -eq 0 ]; then
    echo "start from scratch"
fi
