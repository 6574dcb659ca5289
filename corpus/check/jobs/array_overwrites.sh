#!/bin/bash
#SBATCH --array=1-10
#SBATCH -t 30
#SBATCH --mem=1G
#SBATCH -o draw_%A_%a.log
python3 -c "import random; random.seed($SLURM_ARRAY_TASK_ID); print(random.random())" > result.txt
