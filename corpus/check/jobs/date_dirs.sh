#!/bin/bash
#SBATCH --time=1-12
#SBATCH --mem=20G
#SBATCH --chdir=.
run="run_$(date +%Y%m%d)_${SLURM_JOB_ID}"
mkdir "$run" && cd "$run" || exit
ln -s /usr/bin/env tool
./tool true && echo "in $PWD"
