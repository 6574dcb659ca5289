#!/bin/bash
#SBATCH -C haswell
#SBATCH -t 30
#SBATCH --mem=1G
seq 10 | tail -1
