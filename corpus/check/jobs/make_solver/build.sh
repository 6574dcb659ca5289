#!/bin/bash
#SBATCH --job-name=build
#SBATCH --time=15
#SBATCH --mem=1G
set -e

make solver
./solve 12
