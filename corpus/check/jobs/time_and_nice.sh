#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
#SBATCH -c 1
time nice -n 5 env LC_ALL=C sort -n <(seq 10 -1 1) > sorted.txt
timeout 30 stdbuf -oL head -1 sorted.txt
nohup true > /dev/null 2>&1
