#!/usr/bin/env bash
#SBATCH --job-name=pipeline
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

publish() {
    local table=$1 total bad
    total=$(python3 count.py "$table")
    bad=$(grep -c 'NA' "$table" || true)
    printf '{"table": "%s", "total": %d, "bad": %d}\n' "$table" "$total" "$bad"
}

if ! publish table.csv > total.json.tmp; then
    echo "publish failed" >&2
    exit 1
fi
[[ -s total.json.tmp ]] || exit 1
mv total.json.tmp total.json
python3 -c 'import json; print(json.load(open("total.json"))["total"])'
