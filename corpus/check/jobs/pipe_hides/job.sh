#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
set -e
python3 reduce.py | tee reduce.log
