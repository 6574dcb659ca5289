#!/bin/bash
#SBATCH --job-name=enrich
#SBATCH --ntasks=1
#SBATCH --mem=800M
#SBATCH --time=00:10:00
#SBATCH --output=logs/enrich_%j.out

set -euo pipefail
[[ -f local.conf ]] && source local.conf
: "${MIN_GENES:=2}"
sorter=sort
if command -v gsort >/dev/null 2>&1; then sorter=gsort; fi

list=hits_extra.txt
if [ ! -s "$list" ]; then
    list=hits.txt
fi
unknown=$(grep -cvxFf universe.txt "$list" || true)
echo "genes outside the universe: $unknown"

while IFS=$'\t' read -r term genes; do
    n=$(tr ',' '\n' <<< "$genes" | grep -cxFf "$list" || true)
    (( n >= MIN_GENES )) && printf '%s\t%d\n' "$term" "$n"
    true
done < terms.tsv | "$sorter" -k2,2nr > enriched.tsv
cat enriched.tsv
