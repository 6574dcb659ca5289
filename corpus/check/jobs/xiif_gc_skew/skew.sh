#!/bin/bash
#SBATCH --job-name=gcskew
#SBATCH --mem=1G
#SBATCH --time=00:10:00
#SBATCH --output=gcskew_%j.txt

set -euo pipefail
for fa in genomes/*.fa; do
    python3 skew.py "$fa" 20 > "$(basename "$fa" .fa).skew.tsv"
done
