#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
#SBATCH --job-name=yield
Rscript yield.R
