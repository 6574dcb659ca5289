#!/bin/bash
# share of the records of one species within its thermal limits
set -euo pipefail
sp=$1
lo=$2
hi=$3
awk -v sp="$sp" -v lo="$lo" -v hi="$hi" '
    $1 == sp { n++; if ($2 >= lo && $2 <= hi) k++ }
    END { if (!n) exit 3; printf "%s\t%d\t%.3f\n", sp, n, k / n }
' occ.tsv
