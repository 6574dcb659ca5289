#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
arguments=(--rate 0.5 --steps 10)
python3 model.py "${arguments[@]}" --name "run $SLURM_JOB_ID" input.txt
