#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=2G
Rscript cover.R
