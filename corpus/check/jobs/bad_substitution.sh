#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
set -e
sample.name=liver
echo "sample is $sample" > info.txt
