#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=4G
python3 gram.py
