#!/bin/bash
#SBATCH --job-name=isqrt
#SBATCH --time=02:00:00
#SBATCH --mem=200M
set -eu
while read -r n; do
    python3 isqrt.py "$n"
done < numbers.txt > roots.tmp
mv roots.tmp roots.txt
