#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
echo "Job $SLURM_JOB_ID"
echo "Start: `date"
sleep 1
echo "working"
echo "End"
