#!/bin/bash
#SBATCH -J coupled
#SBATCH -t 30
#SBATCH --ntasks=1 --mem=2G
#SBATCH hetjob
#SBATCH --ntasks=4 --mem=4G
srun --het-group=0 echo ocean : --het-group=1 echo atmosphere || echo "one step"
