#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
in=observations.csv
out=${in%.csv}_clean.csv
python3 clean.py --input "$in" --output "$out"
python3 plot.py "$out"
