#!/bin/bash
#SBATCH --job-name=push_to_s3
#SBATCH --time=3:00:00
#SBATCH --mem=1G
export AWS_DEFAULT_REGION=eu-central-1
export AWS_ACCESS_KEY_ID=AKIAZ3MSJV5QEXAMPLE7
export AWS_SECRET_ACCESS_KEY=wJa9rXUtnFEMIK7MDENGbPxRfiCYq2vTzEXAMPLE
aws s3 cp --recursive results "s3://lab-archive/$SLURM_JOB_ID"
