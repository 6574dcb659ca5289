#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
seq 10 | sort -n > "$TMPDIR/ranks.txt"
scancel "$SLURM_JOB_ID"
cp "$TMPDIR/ranks.txt" "$SLURM_SUBMIT_DIR/"
