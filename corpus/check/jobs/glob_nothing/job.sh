#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
for f in reads/*.fastq; do
    wc -l < "$f" >> counts.txt
done
