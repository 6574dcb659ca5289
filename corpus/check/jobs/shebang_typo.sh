#!/bin/bahs
#SBATCH --time=10
#SBATCH --mem=300M
echo "never runs"
