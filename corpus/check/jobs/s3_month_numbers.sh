#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -euo pipefail
for month in 07 08 09; do
    echo "$(( 10#$month * 30 )) days until the end of month $month"
done
