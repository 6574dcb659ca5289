#!/bin/bash
#SBATCH -J qc
#SBATCH --time=00:20:00
#SBATCH --mem=2G
set -e
seq 100 > counts.txt
if [ -s counts.txt ] then
    echo "have $(wc -l < counts.txt) counts"
else
    echo "nothing" >&2
    exit 1
fi
