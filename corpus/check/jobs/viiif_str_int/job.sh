#!/bin/bash
#SBATCH --array=0-9
#SBATCH --time=20
#SBATCH --mem=600M
python3 fit.py $SLURM_ARRAY_TASK_ID
