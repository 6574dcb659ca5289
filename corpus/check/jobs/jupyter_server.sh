#!/bin/bash
#SBATCH -J notebook
#SBATCH -t 8:00:00
#SBATCH --mem=16G
module load anaconda3/2023.09
jupyter lab --no-browser --ip=0.0.0.0 --port=8899
