#!/bin/bash
#SBATCH --job-name=pick
#SBATCH --array=0-2
#SBATCH --time=5
#SBATCH --output=pick_%a.txt
set -euo pipefail
mapfile -t ITEMS < <(grep -v '^[[:space:]]*#' items.lst | sed '/^$/d')
(( ${#ITEMS[@]} == SLURM_ARRAY_TASK_COUNT )) || { echo "list and array differ" >&2; exit 1; }
IFS=$'\t ' read -r name path <<< "${ITEMS[SLURM_ARRAY_TASK_ID]}"
mkdir -p got
md5sum -- "$path" | cut -d' ' -f1 > "got/$name.hash"
