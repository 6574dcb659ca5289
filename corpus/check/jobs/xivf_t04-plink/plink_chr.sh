#!/bin/bash
#SBATCH --job-name=plink
#SBATCH --ntasks=1
#SBATCH --mem=16G
#SBATCH --time=0-06:00
#SBATCH --output=plink-%j.out

module load plink/1.9
#SBATCH --array=1-22

set -u
CHR=$SLURM_ARRAY_TASK_ID
echo "chromosome $CHR"

plink --bfile /data/ukb/cohort \
      --chr "$CHR" \
      --maf 0.01 \
      --make-bed \
      --out "cohort_chr${CHR}"
