#!/bin/bash
#SBATCH --time=00:10:00
#SBATCH --mem=2G
Rscript --vanilla fit.R
