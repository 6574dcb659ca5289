#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
set -e
./norm.py 3 4
