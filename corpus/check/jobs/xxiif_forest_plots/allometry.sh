#!/bin/bash
#SBATCH --job-name=allometry
#SBATCH --partition=main
#SBATCH --array=0-2
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=01:00:00
set -e
module load R/4.3.1
export OMP_NUM_THREADS=1        # the four workers are processes
FILES=(plot_*.csv)
F=${FILES[$SLURM_ARRAY_TASK_ID]}
Rscript allometry.R "$F"
