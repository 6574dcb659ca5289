#!/bin/bash
#SBATCH --time=4:00:00
#SBATCH --mem=16G
#SBATCH --cpus-per-task=8
set -euo pipefail
module load bwa samtools
cat fastq/sample_R1.fastq fastq/sample_r2.fastq > both.fq
bwa mem -t "$SLURM_CPUS_PER_TASK" ref.fa both.fq > out.sam
