#!/bin/bash
set -euo pipefail

PARAMS=/home/mlopez/elastic/params.txt
declare -A p
while read -r k v; do
    [[ -z $k || $k == \#* ]] && continue
    p[$k]=$v
done < "$PARAMS"

awk -v E="${p[youngs]}" -v nu="${p[poisson]}" 'BEGIN {
    printf "G %.3f\n", E / (2 * (1 + nu))
    printf "K %.3f\n", E / (3 * (1 - 2 * nu))
}' > moduli.txt
cat moduli.txt
