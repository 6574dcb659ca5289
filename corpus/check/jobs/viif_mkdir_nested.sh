#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
run=results/run_$SLURM_JOB_ID
mkdir "$run"
date > "$run"/stamp
