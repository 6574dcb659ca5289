#!/bin/bash
#SBATCH -J legacy
#SBATCH -t 2:00:00
#SBATCH --mem=4G
module load anaconda3/2023.09
eval "$(conda shell.bash hook)"
conda activate py27
python catalog.py stars.cat
