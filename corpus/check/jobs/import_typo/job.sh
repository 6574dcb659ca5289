#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=4G
#SBATCH -c 2
set -e
python3 features.py
