#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:1
#SBATCH --mem=8G
#SBATCH -t 30
module load cuda/12.1
nvcc -O2 -o nbody nbody.cu
./nbody
