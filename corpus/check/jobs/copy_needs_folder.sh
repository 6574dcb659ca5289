#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
for well in A1 A2 A3; do
    echo "$well" > "$well.csv"
done
cp A1.csv A2.csv A3.csv collected/
