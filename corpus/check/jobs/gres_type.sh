#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:v100:2
#SBATCH --mem=32G
#SBATCH -t 4:00:00
nvidia-smi -L || true
python3 -c "device = 'cuda'; print(device)"
