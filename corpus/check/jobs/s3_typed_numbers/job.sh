#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
python3 walk.py 50 -0.5
