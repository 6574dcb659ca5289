#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
Rscript plots.R || { echo "R failed"; exit 1; }
ls -l figures
