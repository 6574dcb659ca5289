#!/bin/bash
#SBATCH --job-name=fold
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=01:30:00
#SBATCH --output=fold_%j.out

set -e
workdir=$(mktemp -d)
cp seqs.fa nussinov.py "$workdir"
cd "$workdir"

python3 nussinov.py seqs.fa > structures.txt
cp structures.txt "$SLURM_SUBMIT_DIR/structures_${SLURM_JOB_ID}.txt"

cd "$SLURM_SUBMIT_DIR"
# leave nothing behind on the node
rm -rf $work_dir/*
