#!/bin/bash
#SBATCH -p gpu
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH -t 6:00:00
module load anaconda3/2023.09 cuda/12.1
python train.py --epochs 10
