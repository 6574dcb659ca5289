#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
#SBATCH -J survival
cd analysis
Rscript fit.R
