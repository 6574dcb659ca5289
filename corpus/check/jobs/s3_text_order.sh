#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
first=2023-04-01
last=2023-11-30
if [[ $first > $last ]]; then
    echo "the dates are swapped" >&2
    exit 1
fi
echo "from $first to $last"
