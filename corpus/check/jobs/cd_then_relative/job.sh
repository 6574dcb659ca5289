#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
mkdir -p run
cd run
cp ../input.txt .
python3 scripts/step.py input.txt
