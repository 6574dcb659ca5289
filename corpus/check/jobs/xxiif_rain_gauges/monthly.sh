#!/bin/sh
#SBATCH -J rain
#SBATCH -p short
#SBATCH -n 1
#SBATCH --mem=500M
#SBATCH -t 15
set -e
cd $SLURM_SUBMIT_DIR
perl monthly.pl daily_1998.dat > monthly_1998.tab
cat monthly_1998.tab
