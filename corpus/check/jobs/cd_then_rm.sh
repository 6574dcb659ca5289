#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
#SBATCH -J wipe
cd /scratch/$USER/old_run_7
rm -rf *
echo cleaned
