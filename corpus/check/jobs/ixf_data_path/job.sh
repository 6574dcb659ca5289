#!/bin/bash
#SBATCH --job-name=ml
#SBATCH --time=01:00:00
#SBATCH --mem=8G
python3 train.py
