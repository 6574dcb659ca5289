#!/bin/bash
#SBATCH --job-name=trim
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=03:00:00
#SBATCH --output=logs/%x_%j.out

mkdir -p logs trimmed

module load trimmomatic/0.39

for r in A B C
do
  trimmomatic SE -threads 4 /data/fq/lib_$r.fq.gz trimmed/lib_$r.fq.gz SLIDINGWINDOW:4:20 MINLEN:36
done
