#!/bin/bash
#SBATCH -p main
#SBATCH --gres=gpu:1
#SBATCH --mem=16G
#SBATCH -t 4:00:00
python3 net.py
