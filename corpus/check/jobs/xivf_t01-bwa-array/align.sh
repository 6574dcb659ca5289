#!/bin/bash
#SBATCH --job-name=bwa
#SBATCH --partition=standard
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --array=1-6
#SBATCH --output=bwa_%A_%a.out
#SBATCH --mail-type=END,FAIL
#SBATCH --mail-user=k.jensen@uni.example

module purge
module load bwa/0.7.17
module load samtools/1.17

REF=/data/genomes/hg38/hg38.fa
SAMPLE=$(sed -n "${SLURM_ARRAY_TASK_ID}p" samples.txt)
FQ=/data/project/fastq

set -o pipefail
mkdir -p merged
bwa mem -t 6 $REF $FQ/${SAMPLE}_R1.fastq.gz $FQ/${SAMPLE}_R2.fastq.gz \
  | samtools sort -@ 2 -o merged/aligned.sorted.bam -
samtools index merged/aligned.sorted.bam
