#!/bin/bash
#SBATCH --time=20
#SBATCH --mem=1G
python3 layers.py
