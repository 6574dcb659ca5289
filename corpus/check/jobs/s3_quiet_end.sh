#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -euo pipefail
rows=$(seq 7 | wc -l)
if (( rows == 7 )); then
    echo "complete"
fi
exit 0
