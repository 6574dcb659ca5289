#!/bin/bash
set -euo pipefail
year=$1 site=$2 rate=$3
awk -v y="$year" -v s="$site" -v r="$rate" '
    $1 == y { n++; sum += $2 * (1 - r) }
    END { if (!n) exit 7; print s, y, sum / n }' staged.csv
