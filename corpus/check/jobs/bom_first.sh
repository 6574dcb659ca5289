#!/bin/bash
#SBATCH -J utf8
#SBATCH --time=10
#SBATCH --mem=300M
echo "température 300 K" > state.txt
