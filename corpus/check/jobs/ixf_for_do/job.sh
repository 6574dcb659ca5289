#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M

mkdir -p trimmed
for file in *.fastq do
    base=$(basename $file .fastq)
    head -n 4 $file > trimmed/${base}.trim.fastq
done
