#!/bin/bash
# Belousov-Zhabotinsky, parameter plane, one row of it per task
#SBATCH --job-name=oregonator
#SBATCH --array=1-3
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=12h
#SBATCH --output=oregonator_%A_%a.out

module load octave
set -eu

row=$SLURM_ARRAY_TASK_ID
eps=$(awk -v r="$row" 'NR == r { print $1 }' eps.txt)

if [ -z "$eps" ]; then
  echo "no row $row in eps.txt" >&2
  exit 2
fi

workfile=oregonator_row${row}.csv
echo "row $row  eps $eps  ->  $workfile"

octave --no-gui --quiet oregonator.m "$eps" "$workfile"
wc -l "$workfile"
