#!/bin/bash
#SBATCH --job-name=blastn
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=16G
#SBATCH --time=08:00:00

module load blast+/2.13.0

blastn -num_threads 8 -query query.fa -db /data/blast/nt -outfmt 6 -out hits.tsv
