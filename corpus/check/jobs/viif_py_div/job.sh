#!/bin/bash
#SBATCH --time=10 --mem=300M
set -e
python3 half.py 10
