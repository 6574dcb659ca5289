#!/bin/bash
#SBATCH --job-name=rarefy
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=00:40:00

set -euo pipefail

DEPTHS="2 3"
mkdir -p rare

for table in otu/*.tsv; do
    name=$(basename "$table" .tsv)
    echo "sample $name"
    : > "rare/$name.tsv"
    for d in $DEPTHS; do
        shuf --random-source=<(yes) -n "$d" "$table" |
            cut -f1 | sort -u | wc -l |
            awk -v d="$d" '{ print d "\t" $1 }' >> "rare/$name.tsv"
done

echo "rarefaction finished"
