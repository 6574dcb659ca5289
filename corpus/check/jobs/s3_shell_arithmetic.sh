#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -e
half=$(echo "scale=3; 1 / 2" | bc 2> /dev/null || awk 'BEGIN { printf "%.3f", 1 / 2 }')
bytes=$(( (1 << 20) * 3 ))
printf '%s %d %05.1f\n' "$half" "$bytes" 2.5
[ "$(( bytes % 7 ))" -ge 0 ]
