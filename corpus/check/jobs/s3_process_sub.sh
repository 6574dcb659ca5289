#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -e
total=0
while read -r n; do total=$((total + n)); done < <(seq 4)
[ "$total" -eq 10 ]
comm -12 <(printf '1\n2\n3\n') <(printf '2\n3\n4\n') > both.txt
read -r first _ <<< "alpha beta gamma"
echo "$first $(wc -l < both.txt)"
