#!/usr/bin/env bash
#SBATCH --job-name=scan
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:10:00
#SBTACH --array=0-4
#SBATCH --output=scan_%j.log

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

readonly -a BETAS=(0.1 0.2 0.4 0.8 1.6)
beta=${BETAS[$SLURM_ARRAY_TASK_ID]}

mkdir -p scan
awk -v b="$beta" 'BEGIN { for (x = 0; x < 5; x++) print x, exp(-b * x) }' \
    > "scan/beta_${beta}.dat"
