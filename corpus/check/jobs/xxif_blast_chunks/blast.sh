#!/bin/bash
#SBATCH --job-name=blast_chunks
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=16G
#SBATCH --time=1-00:00:00
#SBATCH --output=blast_%j.log

module purge
module load blast/2.14

DB=/project/db/nr/nr
SCRATCHDIR=/scratch/$USER/blast_$SLURM_JOB_ID
mkdir -p $SCRATCHDIR || exit 1

# old chunks of a run that was requeued
rm -rf $SCRATCH_DIR/*

cp $SLURM_SUBMIT_DIR/query.fa $SCRATCHDIR/ || exit 1
cd $SCRATCHDIR || exit 1

# one file per 500 sequences
awk -v n=500 '/^>/ { if (i % n == 0) f = sprintf("chunk_%04d.fa", i / n); i++ } { print > f }' query.fa

status=0
for c in chunk_*.fa; do
    blastp -query $c -db $DB -num_threads $SLURM_CPUS_PER_TASK \
           -evalue 1e-5 -outfmt 6 -out ${c%.fa}.tsv || status=1
done

cat chunk_*.tsv > $SLURM_SUBMIT_DIR/hits.tsv
exit $status
