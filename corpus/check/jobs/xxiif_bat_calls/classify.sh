#!/bin/bash
#SBATCH --job-name=batcalls
#SBATCH --partition=main
#SBATCH --array=1-6%3
#SBATCH --cpus-per-task=1
#SBATCH --mem=1500M
#SBATCH --time=00:40:00
#SBATCH --output=logs/%x_%A_%a.out

set -euo pipefail
# line N of nights.txt is the night of task N
night=$(sed -n "${SLURM_ARRAY_TASK_ID}p" nights.txt)
[ -n "$night" ] || { echo "no night for task $SLURM_ARRAY_TASK_ID" >&2; exit 1; }
python3 classify.py calls.csv "$night" > "night_${night}.csv"
