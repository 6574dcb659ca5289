#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
Rscript --vanilla boot.R 50 boot.rds
test -s boot.rds
