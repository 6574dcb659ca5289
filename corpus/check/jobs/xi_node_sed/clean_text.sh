#!/bin/bash
#SBATCH --job-name=lemmas
#SBATCH --time=5
#SBATCH --mem=500M
set -euo pipefail
while IFS='=' read -r from to; do
    printf 's/\\b%s\\b/%s/g\n' "$from" "$to"
done < rules.txt > fix.sed
sed -E -f fix.sed text.txt |
    tr '[:upper:]' '[:lower:]' |
    node js/count.js --top 2 > lemma.json
