#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
python3 -c 'print("WARN old file"); print("x"); raise SystemExit(2)' | grep -v WARN > clean.txt
