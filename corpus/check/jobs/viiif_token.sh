#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:1
#SBATCH --time=4:00:00
#SBATCH --mem=40G
export WANDB_API_KEY=3f9ad0c5b7e14c62a8d9f0e1b2c3d4e5f6a7b8c9
export WANDB_MODE=online
/opt/envs/ml/bin/python /opt/src/ml/train.py --device cuda
