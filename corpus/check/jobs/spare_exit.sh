#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
seq 3 > steps.txt
exit 1
sort -rn steps.txt > sorted.txt
