#!/bin/bash
#SBATCH --job-name=bayes
#SBATCH --time=2:00:00
cd "$SLURM_SUBMIT_DIR"
#SBATCH --mem=32G
/opt/beast/bin/beast -threads 1 run.xml
