#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
#SBATCH -J train
python3 train.py --epochs 2
