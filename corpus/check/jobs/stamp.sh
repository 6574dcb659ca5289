#!/bin/bash
#SBATCH --job-name=stamp
#SBATCH --time=5
#SBATCH --mem=200M
set -e
started=$(date +%Y-%m-%d %H:%M)
echo "started $started"
