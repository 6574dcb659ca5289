#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
#SBATCH --output=%x.%j.log
python3 pipeline.py --steps 3 --outdir runs/today
ls -R runs
