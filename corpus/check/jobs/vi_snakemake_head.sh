#!/bin/bash
#SBATCH --job-name=smk-head
#SBATCH --time=2-00:00:00
#SBATCH --mem=4G
#SBATCH --cpus-per-task=1
# the head job only submits others and waits for them
source /opt/miniforge/etc/profile.d/conda.sh
conda activate snakemake
snakemake --snakefile workflow/Snakefile --jobs 50 --latency-wait 60 --rerun-incomplete \
  --cluster "sbatch -p main -t {resources.time} --mem={resources.mem_mb} -c {threads} -o logs/%j.out" \
  --use-conda "$@"
