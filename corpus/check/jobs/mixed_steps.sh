#!/bin/bash
#SBATCH --job-name=mixed
#SBATCH --time=10
#SBATCH --mem=500M
set -uo pipefail
log() { printf '%(%F %T)T %s\n' -1 "$*" >&2; }

grep -c missing /etc/hostname > absent.txt || log "none, as hoped"
diff <(seq 1 3) <(seq 1 4) > changes.txt; status=$?
(( status < 2 )) || { log "diff failed"; exit "$status"; }
tail -n +2 changes.txt | sed -E 's/^[<>] //' | sort -u | tee unique.txt
rm -f -- ./*.tmp
exit 0
