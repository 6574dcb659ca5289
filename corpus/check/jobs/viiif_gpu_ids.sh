#!/bin/bash
#SBATCH --partition=gpu
#SBATCH --gpus=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=32G
#SBATCH --time=1-00:00:00
export CUDA_VISIBLE_DEVICES=0,1,2,3
/opt/envs/llm/bin/accelerate launch --num_processes 4 /opt/src/llm/sft.py
