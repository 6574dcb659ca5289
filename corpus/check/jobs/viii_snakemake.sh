#!/bin/bash
#SBATCH --job-name=smk
#SBATCH --time=2-00:00:00
#SBATCH --mem=4G
#SBATCH --cpus-per-task=1
unset SLURM_JOB_NAME
set -eo pipefail
. /opt/miniforge3/bin/activate snakemake
snakemake --snakefile /opt/flows/wgs/Snakefile --executor slurm --jobs 100 \
    --default-resources mem_mb=4000 runtime=120 'slurm_account="bio"' \
    --rerun-incomplete --keep-going 2>&1 | tee snakemake.log
