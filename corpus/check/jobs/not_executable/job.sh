#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=2G
#SBATCH -J bench
set -e
./bin/bench.sh 3
