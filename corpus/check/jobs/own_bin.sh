#!/bin/bash
#SBATCH --job-name=ownbin
#SBATCH --time=5
#SBATCH --mem=200M
export PATH=$HOME/tools/bin
seq 1 20 | shuf -n 5 | sort -n > drawn.txt
