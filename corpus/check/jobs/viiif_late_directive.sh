#!/bin/bash
#SBATCH --job-name=phylo
#SBATCH --time=12:00:00

WORK=/scratch/$USER/phylo
#SBATCH --mem=24G
#SBATCH --cpus-per-task=12
mkdir -p "$WORK"
/opt/iqtree/bin/iqtree2 -s /scratch/aln.fa -T AUTO --prefix "$WORK/tree"
