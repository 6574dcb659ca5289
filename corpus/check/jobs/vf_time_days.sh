#!/bin/bash
#SBATCH --ntasks=1
#SBATCH --time=2days
#SBATCH --mem=4G
python3 -c 'print(1)'
