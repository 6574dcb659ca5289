#!/bin/bash
#SBATCH -n1 -t15 --mem=1G
set -euo pipefail

log() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }
die() { log "ERROR: $*"; exit 1; }
need() { command -v "$1" >/dev/null 2>&1 || die "$1 is not installed"; }

need awk
need sort
make_table() {
    local n=$1 i
    for i in $(seq "$n"); do echo "$i $((i * i))"; done
}
make_table 20 | sort -k2,2nr > squares.txt || die "no table"
# head closes the pipe early; with pipefail that would count as an error without the guard
{ head -n 3 || true; } < squares.txt
log finished
