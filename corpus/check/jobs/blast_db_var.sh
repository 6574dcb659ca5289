#!/bin/bash
#SBATCH -J blast
#SBATCH -c 8
#SBATCH --mem=16G
#SBATCH -t 6:00:00
module load blast/2.14
printf '>q1\nACGTACGT\n' > query.fa
printf '>s1\nACGTACGTAA\n' > subjects.fa
mkdir -p db
makeblastdb -in subjects.fa -dbtype nucl -out db/subjects
blastn -query query.fa -db db/subjects -num_threads "${SLURM_CPUS_PER_TASK}" -outfmt 6 > hits.tsv
[ -s hits.tsv ] || echo "no hits"
