#!/bin/bash
#SBATCH --job-name=lexstat1
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=10
#SBATCH --output=stage1.out
# stage 1 of 2; stage 2 is another script and is submitted once, on success
cd "${SLURM_SUBMIT_DIR:?}" || exit 1
rm -rf -- "./tmp.${SLURM_JOB_ID:?}"
perl cognates.pl wordlist.tsv > cognates.tsv || exit 1
sbatch --dependency=afterok:"$SLURM_JOB_ID" stage2.sh
