#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
python3 smooth.py
