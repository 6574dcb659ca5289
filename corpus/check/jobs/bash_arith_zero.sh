#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
set -e
count=0
for f in a b c; do
    count=$((count + 1))    # not ((count++)), which returns 1 at zero
done
let count+=1 || true
(( count > 0 )) && echo "$count"
