#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=200M
#SBATCH -J tree
seq 5 > leaves.txt
echo "building the tree
sort -n leaves.txt > sorted.txt
tail -n 1 sorted.txt
