#!/bin/bash
#SBATCH -J flagstat
#SBATCH -t 30
#SBATCH --mem=4G
set -e
module load samtols/1.17
printf 'r1\t0\n' > reads.sam
samtools flagstat reads.sam
