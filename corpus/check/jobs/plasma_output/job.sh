#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=1G
python3 plasma.py
