#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=500M
python3 root.py
