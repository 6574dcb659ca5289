#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=500M
#SBATCH --job-name=gff
perl gff2bed.pl genes.gff > genes.bed
