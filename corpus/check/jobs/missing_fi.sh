#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
mkdir -p out
if [ -d out ]; then
    echo "have out"
    seq 10 > out/a.txt
echo finished
