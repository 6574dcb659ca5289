#!/bin/bash
#SBATCH --job-name=segment
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=01:00:00
#SBATCH --open-mode=append
#SBATCH --output=segment.log

# Segments of one hour each; at most 12 of them, and only while the
# relaxation has not converged.
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
SEG=${SEG:-1}
MAXSEG=12

perl relax.pl state.txt

if grep -q '^converged 1' state.txt; then
    echo "segment $SEG: converged"
    exit 0
fi
if [ "$SEG" -ge "$MAXSEG" ]; then
    echo "segment $SEG: not converged, giving up" >&2
    exit 1
fi
sbatch --export=ALL,SEG=$((SEG + 1)) segment.sh
