#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=4G
set -e
python3 main.py
