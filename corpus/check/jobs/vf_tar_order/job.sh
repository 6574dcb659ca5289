#!/bin/bash
#SBATCH --time=10 --mem=300M
set -e
mkdir -p results
date > results/stamp.txt
tar -czf results results.tar.gz
