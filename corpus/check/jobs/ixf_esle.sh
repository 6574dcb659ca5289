#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
set -e
seq 5 > numbers.txt
if [ $(wc -l < numbers.txt) -eq 4 ]; then
    echo "SUCCESS"
esle
    echo "FAILED"
    exit 1
fi
grep -q 6 numbers.txt
