#!/bin/bash
#SBATCH --job-name=prep
#SBATCH --output=slurm_logs/%x-%j.out
#SBATCH --time=10
#SBATCH --mem=200M
mkdir -p slurm_logs
date
