#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
set -euo pipefail
bad=$(grep -c '^ERR' run.log || true)
good=$(grep -c '^OK' run.log) || good=0
if (( bad > good )); then
    echo "more failed than passed ($bad > $good)" >&2
    exit 3
fi
echo "passed: $good, failed: ${bad:-0}"
