#!/usr/bin/env python3
#SBATCH --job-name=analyse
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:15:00
#SBATCH --output=analyse-%j.txt
import os
import sys

# Slurm runs a copy in its spool folder
sys.path.insert(0, os.environ.get("SLURM_SUBMIT_DIR", "."))
import stats_helper

vals = [float(v) for v in open("vals.txt")]
print("median", stats_helper.median(vals))
