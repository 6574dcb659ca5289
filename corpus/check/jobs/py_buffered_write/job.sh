#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
python3 steps.py
