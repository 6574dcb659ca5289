#!/bin/bash
# daily covariance of vertical wind and CO2
set -euo pipefail
awk -F, 'NR > 1 { n[$1]++; w[$1] += $2; c[$1] += $3; wc[$1] += $2 * $3 }
    END { for (d in n) printf "%s %.4f\n", d, wc[d]/n[d] - w[d]/n[d] * c[d]/n[d] }' "$1" | sort -n
