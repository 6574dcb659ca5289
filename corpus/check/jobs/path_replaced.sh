#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
set -e
mkdir -p tools/bin
export PATH=$PWD/tools/bin
seq 3 > three.txt
