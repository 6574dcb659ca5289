#!/bin/bash
#SBATCH --array=1-2
#SBATCH --time=10
#SBATCH --mem=100M
name=$(sed -n "${SLURM_ARRAYID}p" names.txt)
test "$name" = anna
