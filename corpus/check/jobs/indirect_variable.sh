#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
for name in ALPHA BETA; do
    declare "$name=1"
    printf -v "${name}_TWO" '%s' 2
done
which=BETA_TWO
echo "$ALPHA ${!which}"
