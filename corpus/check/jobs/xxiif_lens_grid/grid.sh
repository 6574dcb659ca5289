#!/bin/bash
#SBATCH --job-name=lensgrid
#SBATCH --array=0-19
#SBATCH --partition=main
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=00:45:00
#SBATCH --output=slurm-%A_%a.out
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p fits
# each task scans one Einstein radius
python3 scan.py --index "$SLURM_ARRAY_TASK_ID" --data arcs.json
