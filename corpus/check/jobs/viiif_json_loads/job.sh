#!/bin/bash
#SBATCH --time=10:00
#SBATCH --mem=1G
python3 sweep.py params.json
