#!/bin/bash
#SBATCH -t 15
#SBATCH --mem=1G
python3 count.py texts.txt
