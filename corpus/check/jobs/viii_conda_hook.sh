#!/bin/bash
#SBATCH --time=3:00:00
#SBATCH --mem=10G
#SBATCH --cpus-per-task=4
module load anaconda3/2023.09
eval "$(conda shell.bash hook)"
conda activate rnaseq || { echo "no environment" >&2; exit 1; }
salmon quant -i /refs/salmon -l A -1 /data/r_1.fq.gz -2 /data/r_2.fq.gz -p "$SLURM_CPUS_PER_TASK" -o quant
conda deactivate
