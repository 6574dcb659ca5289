#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=2G
RESULTS=$SLURM_SUBMIT_DIR/results_$SLURM_JOB_ID
mkdir -p "$RESULTS"
echo 42 > answer.txt
mkdir "$RESULTS/final"
mv answer.txt "$RESULT/final/answer.txt"
ls "$RESULTS/final"
