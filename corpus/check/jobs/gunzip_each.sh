#!/bin/bash
#SBATCH --job-name=gunzip
#SBATCH --time=10
#SBATCH --mem=500M
set -e
mkdir -p raw
echo 1 2 3 | gzip > raw/a.txt.gz
find raw -name '*.gz' -exec gunzip {}
wc -l raw/*.txt
