#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=1G
set -u
: "${DATASET:=mnist}" "${EPOCHS:=3}"
out=${OUTDIR:-$PWD/out_$DATASET}
mkdir -p "$out"
echo "tasks=${SLURM_NTASKS:-1} node=${SLURMD_NODENAME:-unknown} idx=${SLURM_ARRAY_TASK_ID:-none}"
for ((e = 1; e <= EPOCHS; e++)); do echo "$e 0.$e" >> "$out/loss.txt"; done
tail -1 "$out/loss.txt"
