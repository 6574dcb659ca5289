#!/bin/bash
#SBATCH -t 1:00:00
#SBATCH --mem=500M
n=0
while true; do
    n=$((n + 1))
    r=$(echo "$n" | awk '{print exp(-$1)}')
    if awk -v r="$r" 'BEGIN {exit !(r < 1e-3)}'; then
        echo "converged after $n"
        break
    fi
done
