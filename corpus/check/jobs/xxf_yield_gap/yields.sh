#!/bin/bash
#SBATCH --job-name=yieldgap
#SBATCH --partition=main
#SBATCH --cpus-per-task=8
#SBATCH --mem=12G
#SBATCH --time=03:30:00
#SBATCH --mail-type=END,FAIL

module load R/4.3.1
export OMP_NUM_THREADS=1        # the forks are the parallel part
Rscript yields.R fields.csv || { echo "R failed with $?" >&2; exit 1; }
test -s out/gap.csv
