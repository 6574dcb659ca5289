#!/bin/bash
#SBATCH --job-name=unet
#SBATCH --partition=batch
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=12:00:00

module load anaconda3/2022.10
source activate unet

python train.py --epochs 30
