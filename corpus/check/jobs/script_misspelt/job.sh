#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
#SBATCH -J analyse
echo "start $(date)"
python3 anaylse.py
