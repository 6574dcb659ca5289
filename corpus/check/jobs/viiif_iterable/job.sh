#!/bin/bash
#SBATCH -t 0-0:10
#SBATCH --mem 400M
srun python3 flat.py
