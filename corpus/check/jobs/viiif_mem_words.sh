#!/bin/bash
#SBATCH --partition=bigmem
#SBATCH --mem=200 GB
#SBATCH --time=1-00:00:00
#SBATCH -c 8
/opt/spades/bin/spades.py -t $SLURM_CPUS_PER_TASK -m 200 -o asm --pe1-1 /scratch/r1.fq.gz --pe1-2 /scratch/r2.fq.gz
