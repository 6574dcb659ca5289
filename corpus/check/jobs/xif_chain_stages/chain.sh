#!/bin/bash
#SBATCH --job-name=chain
#SBATCH --time=00:05:00
#SBATCH --mem=200M
#SBATCH --output=chain.out

set -e
cd "$SLURM_SUBMIT_DIR"

JID=$(sbatch stage1.sh)
echo "stage 1: $JID"
sbatch --dependency=afterok:"${JID}" stage2.sh
