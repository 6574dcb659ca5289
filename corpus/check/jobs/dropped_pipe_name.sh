#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
seq 10 > sizes.txt
sort -rn sizes.txt > sizes.txt
test -s sizes.txt
