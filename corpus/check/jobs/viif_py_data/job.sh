#!/bin/bash
#SBATCH --time=10 --mem=300M
cd model
python3 run.py
