#!/bin/bash
#SBATCH --job-name=stream
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
#SBATCH --mem=4G

set -u
STAGE=stage
rm -rf "$STAGE"
mkdir -p "$STAGE"

producer() {
    local i
    for i in 1 2 3; do
        seq $((i * 10)) $((i * 10 + 4)) > "$STAGE/part$i.tsv"
    done
    touch "$STAGE/chunks.done"
}

producer &

until [ -e "$STAGE/chunk.done" ]; do
    sleep 2
done

cat "$STAGE"/part*.tsv > merged.tsv
echo "merged $(wc -l < merged.tsv) rows"
