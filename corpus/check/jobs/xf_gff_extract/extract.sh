#!/bin/bash -l
#SBATCH --job-name=gff2bed
#SBATCH --time=10
#SBATCH --mem=1G
set -e
FEATURE=gene
perl scripts/gff2bed.pl \
    --gff annotation.gff3 \
    --type "$FEATURE" \
    --out genes.bed
sort -k1,1 -k2,2n -o genes.bed genes.bed
