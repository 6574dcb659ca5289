#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
python3 poem.py
