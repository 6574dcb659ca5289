#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=2G
#SBATCH -J diversity
module load R/4.3.1
Rscript shannon.R
