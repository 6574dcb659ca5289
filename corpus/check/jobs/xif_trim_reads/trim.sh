#!/bin/bash
#SBATCH --job-name=trim
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=01:00:00

set -euo pipefail
shopt -s nullglob

RAW=raw
OUT=trimmed
KEEP=6
mkdir -p "$OUT"

for fq in "$RAW"/*.fastq; do
    base=$(basename "$fq" .fastq)
    awk -v k="$KEEP" 'NR % 2 == 0 && NR % 4 != 3 { $0 = substr($0, 1, k) } { print }' "$fq" > "$OUT/$base.fq"
    echo "$base: $(( $(wc -l < "$OUT/$base.fq") / 4 )) reads"
done

echo "all samples trimmed"
