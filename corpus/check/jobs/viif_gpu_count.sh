#!/bin/bash
#SBATCH -p gpu
#SBATCH --nodes=1
#SBATCH --gres=gpu:a100:8
#SBATCH --time=1:00:00
#SBATCH --mem=64G
/opt/envs/vit/bin/python /opt/src/vit/main.py
