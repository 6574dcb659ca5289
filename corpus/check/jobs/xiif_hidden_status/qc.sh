#!/bin/bash
#SBATCH --job-name=qc
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=00:10:00
#SBATCH --output=qc_%j.out
# The import into the registry hangs on this one:
#   sbatch --dependency=afterok:<this job> import.sh

cd "$SLURM_SUBMIT_DIR"
python3 check.py lab_values.csv
echo "QC done $(date +%F)"
