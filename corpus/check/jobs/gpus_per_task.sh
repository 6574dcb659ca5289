#!/bin/bash
#SBATCH -p gpu
#SBATCH --gpus-per-task=1
#SBATCH -t 30
#SBATCH --mem=10G
nvidia-smi -L || python3 -c "print('cuda')"
