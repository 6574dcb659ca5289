#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
mkdir results
seq 5 > results/first.txt
