#!/bin/bash
#SBATCH --job-name=pk-boot
#SBATCH --partition=main
#SBATCH --time=08:00:00
#SBATCH --output=boot_%j.out

# site environment
source /etc/profile
module load R/4.3.1

#SBATCH --cpus-per-task=8
#SBATCH --mem=24G

set -e
export OMP_NUM_THREADS=1
Rscript boot.R conc.csv "${SLURM_CPUS_PER_TASK:-8}" 5000
