#!/bin/bash
#SBATCH --job-name=my fit
#SBATCH --time=2:00:00
#SBATCH --mem=1G
seq 10 | tail -1
