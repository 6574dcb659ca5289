#!/bin/bash
#SBATCH --job-name=opt
#SBATCH --meem=4G
#SBATCH --time=1:00:00
python3 -c 'print(1)'
