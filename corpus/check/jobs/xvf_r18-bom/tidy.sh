#!/usr/bin/env bash
#SBATCH --job-name=tidy
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

tidy() {
    local src=$1
    sort -t, -k2,2n "$src" | awk -F, '!seen[$1]++'
}

tidy sites.csv > sites.tidy.csv
wc -l sites.tidy.csv
