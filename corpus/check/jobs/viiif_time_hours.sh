#!/bin/bash
#SBATCH --account=chem7
#SBATCH --time=24h
#SBATCH --mem=4G
#SBATCH --ntasks=1
g16 < input.com > input.log
