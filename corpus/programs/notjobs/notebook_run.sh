#!/bin/bash
#SBATCH --cpus-per-task=4
module load python
jupyter nbconvert --execute --to html --ExecutePreprocessor.timeout=3600 analysis.ipynb
