#!/bin/bash
#SBATCH --job-name=perm
#SBATCH --time=00:20:00
#SBATCH --mem=1G
#SBATCH --output=logs/%x_%j.out
#SBATCH --error=logs/%x_%j.err

mkdir -p logs
Rscript perm.R groups.csv 500
