#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:a100:2
#SBATCH --mem=8G
#SBATCH -t 2:00:00
seq 1000 > x.txt
sort -rn x.txt > y.txt
awk '{s += $1} END {print s}' y.txt
