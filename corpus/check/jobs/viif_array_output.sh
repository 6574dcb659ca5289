#!/bin/bash
#SBATCH --array=1-10
#SBATCH --time=30 --mem=1G
#SBATCH --output=fit.log
set -e
out=fit_all.dat
mkdir -p tmp
/opt/bin/fit --seed "$SLURM_ARRAY_TASK_ID" --out $out
