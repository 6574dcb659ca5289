#!/bin/bash
#SBATCH -J decay
#SBATCH -n 1
#SBATCH --mem=1G
#SBATCH -t 0:20:00
#SBATCH -o decay-%j.out

set -e
python3 fit_decay.py counts.csv --out fit.json
