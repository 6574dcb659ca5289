#!/bin/bash
#SBATCH --job-name=R_analysis
#SBATCH --time=00:30:00
#SBATCH --mem=4G
#SBATCH --output=R_%j.out

# Load R
# module load R/4.3.1

Rscript --no-save analysis.R
