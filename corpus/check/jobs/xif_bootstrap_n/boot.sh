#!/bin/bash
#SBATCH --job-name=boot
#SBATCH --array=1-$NBOOT
#SBATCH --time=00:30:00
#SBATCH --mem=1G

NBOOT=${NBOOT:-20}
set -eu
mkdir -p boot
shuf -r -n "$(wc -l < sample.txt)" sample.txt |
    awk '{ s += $1 } END { print s / NR }' > "boot/mean_${SLURM_ARRAY_TASK_ID}.txt"
