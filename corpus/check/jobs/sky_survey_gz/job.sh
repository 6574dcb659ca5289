#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
gunzip -c fields.csv.gz > fields_all.csv
wc -l fields_all.csv
