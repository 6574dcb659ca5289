#!/usr/bin/env bash
#SBATCH --job-name=halo
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --mem-per-cpu=1G
#SBATCH --time=00:30:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p parts

pids=()
for half in left right; do
    srun --exact --ntasks=2 --mem-per-cpu=1G bash rank.sh "$half" &
    pids+=("$!")
done
status=0
for pid in "${pids[@]}"; do
    wait "$pid" || status=$?
done
(( status == 0 )) || exit "$status"
sort parts/*.txt > halo.txt
[[ $(wc -l < halo.txt) -eq 4 ]]
