#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
mkdir -p results
echo 1 > results/a.txt
tar czf results results.tgz
ls -l
