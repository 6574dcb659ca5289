#!/bin/bash
#SBATCH --job-name=glacier
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=00:30:00
#SBATCH --output=glacier_%j.log
# usage: sbatch chain.sh [segment]; ten segments of a century each
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

readonly LAST=10
segment=${1:-1}

if (( segment > LAST )); then
    echo "nothing left to do"
    exit 0
fi

state=state_$((segment - 1)).txt
[[ $segment -eq 1 ]] && state=state_start.txt
python3 glacier.py "$state" "state_${segment}.txt.tmp"
mv "state_${segment}.txt.tmp" "state_${segment}.txt"

if (( segment < LAST )); then
    sbatch --dependency=afterok:"$SLURM_JOB_ID" chain.sh $((segment + 1))
fi
