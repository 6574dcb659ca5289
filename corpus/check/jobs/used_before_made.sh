#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
#SBATCH -J order
set -e
sort -k1,1 genes.tsv > sorted.tsv
printf 'b\t2\na\t1\n' > genes.tsv
join sorted.tsv sorted.tsv
