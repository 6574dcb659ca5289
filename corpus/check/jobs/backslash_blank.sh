#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
set -e
printf '1 2\n' > grid.txt
awk -v a=1 \ 
    '{print $1 + a}' \
    grid.txt
