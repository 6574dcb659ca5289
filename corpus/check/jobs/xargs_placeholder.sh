#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
#SBATCH -n 1
seq 3 | xargs -I{} sh -c 'echo "id {}" > file_{}.txt'
ls file_?.txt
