#!/bin/bash
#SBATCH --job-name=lexstat2
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=10
#SBATCH --output=stage2.out
set -eo pipefail
cut -f1,2 cognates.tsv | sort | uniq -c | sort -k1,1nr > pairs.txt
cat pairs.txt
