#!/bin/bash
#SBATCH --time=10 --mem=1G
module load R/4.3.1
Rscript model.R
