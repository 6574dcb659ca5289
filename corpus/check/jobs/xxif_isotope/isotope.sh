#!/bin/bash
#SBATCH --job-name=isotope
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --time=5:00
#SBATCH --output=isotope_%j.out
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

# local settings, if somebody has any
if [[ -r site.conf ]]; then
    . ./site.conf
fi
THRESHOLD=${THRESHOLD:-0.5}

rm -f isotope.ok
python3 isotope.py cores.csv "$THRESHOLD" | tee isotope.tsv
rc=${PIPESTATUS[0]}
(( rc == 0 )) && touch isotope.ok
exit "$rc"
