#!/bin/bash
#SBATCH --time=00:05:00
#SBATCH --mem=200M
awk '{ s += $1 } END { print s }' numbers.txt > sum.txt
