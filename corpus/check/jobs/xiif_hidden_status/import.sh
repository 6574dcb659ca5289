#!/bin/bash
#SBATCH --job-name=import
#SBATCH --mem=500M
#SBATCH --time=00:10:00
#SBATCH --output=import_%j.out

set -e
tail -n +2 lab_values.csv >> registry.csv
