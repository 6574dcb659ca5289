#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
python3 -u main.py --learning-rate 0.1
