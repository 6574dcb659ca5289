#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
set -euo pipefail
OUT=$SLURM_SUBMIT_DIR/tmp_$SLURM_JOB_ID
mkdir -p "$OUT"
touch "$OUT"/a "$OUT"/b
rm -rf "${OUT:?}"/*
rmdir "$OUT"
