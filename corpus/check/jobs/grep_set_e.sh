#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
set -e
seq 10 > run.log
warnings=$(grep -c WARNING run.log)
echo "$warnings warnings"
