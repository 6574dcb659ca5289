#!/bin/bash -e
# ------------------------------------------------
# tabulation of a Bessel series, see notes 2022-04
# ------------------------------------------------

#SBATCH -n1 -c2 -t10:00
#SBATCH -JTAB
#SBATCH --mem=1g --nice
# text between directives is allowed
#SBATCH -otab.%j.log   # log beside the script

let "N = 3" || true
for ((i = 0; i <= N; i++)); do
    printf '%d %s\n' $i "$(bc -l <<< "scale=6; j(0,$i)")"
done > tab.txt
