#!/bin/bash -l

# the cluster's name goes first
##SBATCH --partition=old
#SBATCH --partition=main,bigmem   # whichever is free
#SBATCH --time=1-12
#SBATCH --nodes=1-1 --exclusive
#SBATCH --mem=0
#SBATCH -J "long name with blanks"
# SBATCH --mem=4G would be too little

echo "running in $SLURM_JOB_PARTITION"
