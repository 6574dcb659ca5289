#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:v100:2
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
#SBATCH --mem=60G
module load cuda/12.1
nvidia-smi
/opt/envs/torch/bin/torchrun --nproc_per_node=2 /opt/src/unet/train.py --data /scratch/tiles
