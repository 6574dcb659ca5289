#!/bin/bash
#SBATCH --job-name=kmer
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time=08:00:00
#SBATCH --output=kmer-%j.log

set -euo pipefail
#SBATCH --mem=48G

K=7
python3 kmers.py contigs.fa "$K" | sort -k2,2nr > "kmers.k${K}.tsv"
head -n 20 "kmers.k${K}.tsv" > top20.tsv
