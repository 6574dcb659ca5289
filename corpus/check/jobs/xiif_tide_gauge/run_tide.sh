#!/bin/bash
#SBATCH --job-name=tide
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=15
#SBATCH --output=tide_%j.log

set -euo pipefail
. ./config.sh

echo "station $STATION"
sort -t, -k1,1 "$GAUGE_FILE" | awk -F, -v st="$STATION" '
    { s += $2; n++ }
    END { printf "%s mean level %.3f m over %d hours\n", st, s / n, n }'
