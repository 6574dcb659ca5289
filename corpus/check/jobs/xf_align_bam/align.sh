#!/bin/bash
#SBATCH --job-name=align
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpu-per-task=8
#SBATCH --mem=12G
#SBATCH --time=1-00:00:00

set -euo pipefail
mkdir -p hits
for fq in fastq/*.fq; do
    b=$(basename "$fq" .fq)
    awk 'NR % 4 == 2' "$fq" | sort | uniq -c | sort -k1,1nr > "hits/$b.txt"
done
