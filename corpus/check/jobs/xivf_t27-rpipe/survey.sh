#!/bin/bash
#SBATCH --job-name=survey
#SBATCH -n 1
#SBATCH --mem=4G
#SBATCH --time=00:20:00

module load R/4.3.1

R --no-save --no-restore -f survey.R
