#!/bin/bash
#SBATCH -J blastall
#SBATCH --output=slurm_logs/%x_%j.out
#SBATCH -t 2:00:00
#SBATCH --mem=4G
seq 100 | awk '{s+=$1} END {print s}'
