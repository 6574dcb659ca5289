#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
set -e
python3 -c “print(2+2)”
