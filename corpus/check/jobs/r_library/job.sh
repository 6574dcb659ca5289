#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=2G
Rscript --vanilla cluster.R
