#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
bash steps.sh -n 3 -v out.txt
test -s out.txt
