#!/bin/bash
#SBATCH --job-name=ocr_clean
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=6
#SBATCH --mem=6G
#SBATCH --time=00:30:00
#SBATCH --output=/dev/null
#SBATCH --error=ocr_clean_%j.err

set -euo pipefail
shopt -s nullglob
cd "$SLURM_SUBMIT_DIR"
mkdir -p clean

# not executable on purpose: it is given to bash
find pages -name '*.txt' -print0 |
    xargs -0 -r -n 1 -P "${SLURM_CPUS_PER_TASK:-1}" bash clean_page.sh

files=(clean/*.txt)
echo "${#files[@]} pages" > clean.count
