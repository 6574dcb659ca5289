#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
./tools/split.sh 3
