#!/bin/bash
#SBATCH --job-name=distance
#SBATCH --time=04:00:00
#SBATCH --mem=16G
#SBATCH -c 4
python3 dist.py
