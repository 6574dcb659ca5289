#!/bin/bash
#SBATCH --cpus-per-task=2
#SBATCH -t 2:00:00
#SBATCH --mem=4G
module load anaconda3/2023.09
export OPENBLAS_NUM_THREADS=24
python3 -c 'import sys; print(sys.version)'
