#!/bin/sh
#SBATCH --job-name=kwic
#SBATCH --ntasks=1
#SBATCH --mem=900M
#SBATCH --time=00:12:00
#SBATCH --output=kwic_%j.txt
# Keyword-in-context lists for the corpus of letters

set -eu

WORDS="house light"
WIDTH=24

log() {
    echo "[kwic] $*" >&2
}

if [ ! -d letters ]; then
    log "no corpus"
    exit 2
fi

mkdir -p lists
for w in $WORDS; do
    log "word: $w"
    perl kwic.pl --word "$w" --width "$WIDTH" letters/*.txt > "lists/$w.txt"
done
wc -l lists/*.txt
