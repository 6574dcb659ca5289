#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=400M
python3 mean.py rain.csv
