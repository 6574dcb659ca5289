#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=200M
python3 tide.py
