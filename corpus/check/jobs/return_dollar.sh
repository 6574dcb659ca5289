#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
set -u
maximum=12
seen=14
if [ "$seen" -ge "maximum" ]; then
    echo "too many outliers"
    exit 0
fi
exit 1
