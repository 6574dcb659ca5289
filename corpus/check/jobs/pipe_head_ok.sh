#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
seq 100000 | head -n 1
exit 0
