#!/bin/bash
#SBATCH --job-name=seg
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --mem=3G
#SBATCH --time=02:00:00

set -euo pipefail

SUBJECTS=(sub-01 sub-02 sub-05 sub-09)
SUBJ=${SUBJECTS[$SLURM_ARRAY_TASK_ID]}
THR=${THR:-100}

mkdir -p masks
python3 threshold.py "bids/$SUBJ.txt" --threshold "$THR" > "masks/${SUBJ}_mask.txt"
