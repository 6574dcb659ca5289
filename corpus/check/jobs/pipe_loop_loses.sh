#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
printf '%s\n' 12 7 30 > counts.txt
total=0
cat counts.txt | while read -r n; do
    total=$((total + n))
done
echo "total reads: $total"
[ "$total" -gt 0 ]
