#!/bin/bash
#SBATCH --time=02:00:00
#SBATCH --mem=8G
#SBATCH --cpus-per-task=4
# matlab comes from the site's default modules
matlab -nodisplay -batch "addpath('src'); run_all($SLURM_CPUS_PER_TASK)"
