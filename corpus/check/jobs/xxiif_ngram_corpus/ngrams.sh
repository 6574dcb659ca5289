#!/bin/bash
#SBATCH -J ngrams
#SBATCH -p main
#SBATCH -c 1
#SBATCH --mem=4G
#SBATCH -t 02:00:00
#SBATCH -o ngrams.%j.out

set -euo pipefail
module load python/3.11.3

# bigrams of the field transcripts, most frequent first
mkdir -p out
for f in texts/*.txt; do
    b=$(basename "$f" .txt)
    python3 bigrams.py "$f" > "out/$b.bigrams.tsv"
done
wc -l out/*.tsv
