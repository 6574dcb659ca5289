#!/bin/bash
#SBATCH --job-name=scan
#SBATCH --time=0:30:00
#SBATCH --mem=1G
for mass in 100 120 140; do
    printf 'mass = %s\n' "$mass" > card_$mass.txt

cat card_*.txt > all.txt
