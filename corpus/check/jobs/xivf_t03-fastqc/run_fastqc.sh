#!/bin/bash
#SBATCH --job-name=fastqc
#SBATCH --account=bio-lab
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpu-per-task=4
#SBATCH --mem=8G
#SBATCH --time=02:00:00

module load fastqc
module load multiqc

mkdir -p qc
fastqc --threads 4 -o qc /data/$USER/run42/*.fastq.gz
multiqc -o qc qc
