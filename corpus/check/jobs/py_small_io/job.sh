#!/bin/bash
#SBATCH -t 8:00:00
#SBATCH --mem=2G
python3 orbit.py
