#!/usr/bin/env bash
#SBATCH --partition=short
#SBATCH --time=00:45:00
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --job-name=wagepanel

# the environment is kept with the project so that co-authors get the same versions
set -e
module load python/3.11.3
export PYTHONPATH="$SLURM_SUBMIT_DIR/env/lib/python3.11/site-packages"
export PYTHONNOUSERSITE=1
cd "$SLURM_SUBMIT_DIR"

python3 panel.py wages.csv > fe_table.txt
