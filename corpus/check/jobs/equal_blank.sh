#!/bin/bash
#SBATCH --nodes=1
#SBATCH --output = fit.log
#SBATCH -t 30
#SBATCH --mem=1G
seq 10 | tail -1
