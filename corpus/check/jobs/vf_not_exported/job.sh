#!/bin/bash
#SBATCH --time=10 --mem=300M
set -e
DATA_ROOT=$PWD/data
mkdir -p "$DATA_ROOT"
python3 load.py
