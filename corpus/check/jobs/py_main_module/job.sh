#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
set -e
python3 -m hydro.simulate --steps 3
