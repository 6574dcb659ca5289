#!/bin/bash
#SBATCH --job-name=ca
#SBATCH --time=5
#SBATCH --mem=100M
set -eu
for rule in 30 110; do
    lua lua/ca.lua "$rule" 15 >> ca.tmp
done
mv ca.tmp ca.txt
