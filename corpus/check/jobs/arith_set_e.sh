#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
set -e
count=0
for f in /etc/host*; do
    ((count++))
done
echo "$count files"
