#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
threshold=3
seq 6 > values.txt
awk '$1 > $threshold { n++ } END { print n }' values.txt
