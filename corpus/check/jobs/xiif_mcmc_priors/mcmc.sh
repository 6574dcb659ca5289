#!/bin/bash
#SBATCH --job-name=mcmc
#SBATCH --time=04:00:00
#SBATCH --mem=2000
#SBATCH --cpus-per-task=1
#SBATCH --output=mcmc_%j.log

cd "${SLURM_SUBMIT_DIR}" || exit 1
exec python3 -u mcmc.py 5000
