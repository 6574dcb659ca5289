#!/bin/bash
#SBATCH --job-name=ice_cores
#SBATCH --time=1:00:00
#SBATCH --mem=1G
mkdir -p out
python3 -c 'import sys; sys.exit(open("cores.csv").read())' > out/ages.txt || echo "dating failed, see above"
