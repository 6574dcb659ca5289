#!/bin/bash
#SBATCH --job-name=hist
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:10:00
#SBATCH --output=hist.%j.txt

python3 hist.py energies.dat
