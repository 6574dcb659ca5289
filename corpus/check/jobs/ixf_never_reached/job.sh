#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
seq 100 > out.dat
exit 0
mkdir -p $HOME/results
cp out.dat $HOME/results/
