#!/bin/bash
#SBATCH -J assembly
#SBATCH -p main
#SBATCH --mem=250G
#SBATCH -c 16
#SBATCH -t 1-00:00:00
printf '>c1\nACGT\n' > contigs.fa
grep -c '>' contigs.fa
