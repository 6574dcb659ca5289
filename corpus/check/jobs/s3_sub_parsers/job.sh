#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
python3 tool.py --verbose index --k 31 reads.txt
python3 tool.py count reads.txt
