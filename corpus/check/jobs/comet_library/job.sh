#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
python3 scripts/orbit.py
