#!/bin/bash
#SBATCH --job-name=fit
#SBATCH --cpus-per-task=1
#SBATCH --mem=8G
#SBATCH --time=01:00:00

module load R/4.2.1

Rscript --vanilla fit.R
