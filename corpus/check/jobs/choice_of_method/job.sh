#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
python3 integrate.py --method runge-kutta --dt 0.1
