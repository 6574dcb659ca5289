#!/usr/bin/env bash
#SBATCH --job-name=star_align
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=48
#SBATCH --mem=40G
#SBATCH --time=10:00:00
/opt/star/STAR --runThreadN "$SLURM_CPUS_PER_TASK" --genomeDir /refs/star --readFilesIn /scratch/s1.fq
