#!/bin/bash
#SBATCH --time=20
#SBATCH --mem=500M
set -e
gunzip -kf reads.txt.gz
python3 split.py reads.txt --into parts
for f in parts/*.txt; do
    tr acgt ACGT < "$f" > "${f%.txt}.up"
done
cat parts/*.up | sort | uniq -c > counts.txt
head -1 counts.txt
