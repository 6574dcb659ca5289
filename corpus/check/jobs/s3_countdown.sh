#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -e
left=3
while (( left > 0 )); do
    echo "$left steps left"
    (( left -= 1 )) || true
done
tries=0
until [ "$tries" -ge 2 ]; do
    tries=$(expr "$tries" + 1)
done
