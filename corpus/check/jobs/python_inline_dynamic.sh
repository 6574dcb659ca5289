#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
eval "$(python3 -c 'print("N=5; M=6")')"
echo $((N * M))
