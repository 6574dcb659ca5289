#!/bin/bash
#SBATCH --time=10 --mem=300M
set -e
python3 scripts/train.py
