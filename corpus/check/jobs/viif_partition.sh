#!/bin/bash
#SBATCH --partition=gpus
#SBATCH --gres=gpu:1
#SBATCH --time=1:00:00
#SBATCH --mem=8G
nvidia-smi
