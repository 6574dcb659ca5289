#!/bin/bash
#SBATCH --time=00:30:00
#SBATCH --mem=1G
python3 src/hist.py
