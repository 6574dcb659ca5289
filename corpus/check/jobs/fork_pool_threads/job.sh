#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=2G
#SBATCH --cpus-per-task=4
export OMP_NUM_THREADS=2
python3 pool.py
