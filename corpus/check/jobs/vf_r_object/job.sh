#!/bin/bash
#SBATCH --time=10 --mem=2G
module load R/4.3.1
Rscript boot.R
