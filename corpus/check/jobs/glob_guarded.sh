#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
shopt -s nullglob
for f in frames/*.tif; do
    echo "$f"
done
files=(*.h5)
echo "${#files[@]} files"
