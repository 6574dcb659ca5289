#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=400M
exec python3 stats.py 4 8 15
