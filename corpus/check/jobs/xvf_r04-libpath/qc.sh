#!/usr/bin/env bash
#SBATCH --job-name=qc
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib/log.sh"

check() {
    local f=$1
    [[ -s $f ]] || { log "empty: $f"; return 1; }
    log "$f has $(wc -l < "$f") lines"
}

check data/plate1.csv
check data/plate2.csv
