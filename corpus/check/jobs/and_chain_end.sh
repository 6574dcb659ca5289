#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
seq 4 > a.txt && sort -r a.txt > b.txt && echo "all steps done"
