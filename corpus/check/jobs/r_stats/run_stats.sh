#!/bin/bash
#SBATCH --job-name=rstats
#SBATCH --mem=2G
#SBATCH --time=00:15:00
#SBATCH --output=rstats_%j.log
module load R/4.3.1
export R_LIBS_USER=$PWD/rlibs
Rscript --vanilla model.R weights.csv
