#!/bin/bash
#SBATCH --job-name=tellogs
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=00:20:00
#SBATCH --output=tellogs_%j.out

# Pack the pointing logs of a run into one table.
# The raw logs are large and are not needed once the table is there.
set -eu
cd "$SLURM_SUBMIT_DIR"

run=run07
raw=raw/$run
table=$run.tsv.gz

say() { echo "$(date '+%H:%M:%S') $*"; }

if [ ! -d "$raw" ]; then
    say "nothing to do"
    exit 0
fi

say "packing $(ls "$raw" | wc -l) nights"
perl parse.pl "$raw"/night*.log | gzip -9 > "$table" && rm -r "$raw"

say "table: $(zcat "$table" | wc -l) lines"
