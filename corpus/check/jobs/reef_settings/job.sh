#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=512M
python3 reef.py
