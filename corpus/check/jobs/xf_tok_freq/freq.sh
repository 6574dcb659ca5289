#!/bin/bash
#SBATCH -J freq
#SBATCH --time=00:20:00
#SBATCH --mem=2G
#SBATCH -c 1

cat corpus/*.txt | python3 freq.py --min 1 > freq.tsv
