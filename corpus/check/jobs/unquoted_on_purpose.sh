#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
FLAGS="-n -r"           # must split into words
printf '3\n10\n2\n' > v.txt
sort $FLAGS v.txt | head -1
