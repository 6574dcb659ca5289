#!/bin/bash
#SBATCH -J hidden
#SBATCH -t 30
#SBATCH --mem=1G
python3 -c 'print(1 / 0)'
echo "job finished"
