#!/bin/bash
#SBATCH --job-name=score
#SBATCH --time=10
#SBATCH --mem=500M

cd $PBS_O_WORKDIR
python3 score.py 3 4
