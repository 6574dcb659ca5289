#!/bin/bash
#SBATCH --job-name=galfit
#SBATCH --partition=main
#SBATCH --array=0-5
#SBATCH --ntasks=1
#SBATCH --mem-per-cpu=1500
#SBATCH --time=00:20:00
#SBATCH --output=%x.%a.log

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

models=(sersic exponential)
galaxies=(m31 m33 m81)
m=${models[SLURM_ARRAY_TASK_ID % ${#models[@]}]}
g=${galaxies[SLURM_ARRAY_TASK_ID / ${#models[@]}]}

python3 profile_fit.py "$m" "profiles/$g.txt" > "fit_${g}_${m}.txt"

# one common index: appended under a lock, so the tasks do not mix
{
    flock 9
    printf '%s\t%s\t%s\n' "$g" "$m" "$(tail -n 1 "fit_${g}_${m}.txt")" >> index.tsv
} 9> .index.lock
