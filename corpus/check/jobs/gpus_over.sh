#!/bin/bash
#SBATCH -p gpu
#SBATCH -N 1
#SBATCH --gres=gpu:8
#SBATCH --mem=200G
#SBATCH -t 12:00:00
nvidia-smi -L || true
python3 -c "device = 'cuda'; print(device)"
