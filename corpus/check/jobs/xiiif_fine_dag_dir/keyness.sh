#!/bin/bash
set -euo pipefail
awk -F'\t' -v min="$1" '
    FNR == 1 { f++ }
    { n[f, $1] = $2; all[$1] += $2 }
    END { for (w in all) if (all[w] >= min) printf "%s\t%d\t%d\n", w, n[1, w], n[2, w] }
' east_freq.txt west_freq.txt | sort
