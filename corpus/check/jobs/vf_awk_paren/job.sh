#!/bin/bash
#SBATCH --time=5 --mem=100M
set -euo pipefail
awk '$3 > 10 { s += $3; n++ } END { if (n > 0 { print s / n } }' table.txt
