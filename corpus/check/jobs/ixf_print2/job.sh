#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
python3 legacy/convert.py
