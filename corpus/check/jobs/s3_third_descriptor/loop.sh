#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
count=0
while read -r -u 3 site; do
    srun -n 1 python3 -c 'import sys; sys.stdin.read()' < /dev/null
    count=$((count + 1))
done 3< sites.txt
[ "$count" -eq 3 ]
