#!/usr/bin/env bash
#SBATCH --job-name=qc
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail

if [[ -n ${SLURM_JOB_ID:-} ]]; then
    ROOT=$SLURM_SUBMIT_DIR
else
    ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fi
readonly ROOT
# shellcheck source=lib/log.sh
. "$ROOT/lib/log.sh"

main() {
    local f
    for f in "$ROOT"/data/*.csv; do
        log "$(basename "$f"): $(wc -l < "$f") lines"
    done
}

main "$@"
