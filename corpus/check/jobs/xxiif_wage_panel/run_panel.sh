#!/bin/bash
#SBATCH --job-name=wage-panel
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=8G
#SBATCH --time=03:00:00
#SBATCH --mail-type=END,FAIL
set -e
module load R/4.3.1
cd "$SLURM_SUBMIT_DIR"
mkdir -p tables
Rscript --vanilla fe_model.R panel.csv tables/fe.csv
