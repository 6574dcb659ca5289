#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
beta=0.5
double=$(( beta * 2 ))
echo "$double"
