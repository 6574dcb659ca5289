#!/usr/bin/env bash
#SBATCH --job-name=pipeline
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

publish() {
    local table=$1
    local total=$(python3 count.py "$table")
    printf '{"table": "%s", "total": "%s"}\n' "$table" "$total" > total.json
}

main() {
    publish table.csv
    echo "published"
}

main "$@"
