#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
echo 1 > one.txt
sbatch --dependency=afterok:$SLURM_JOB_ID step_2.sh
