#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
convert_one() {
    local img=$1
    if [ -s "$img" ]; then
        echo "converting $img"
    fi

for img in *.tif; do
    convert_one "$img"
done
