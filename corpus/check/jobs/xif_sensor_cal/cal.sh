#!/bin/bash
#SBATCH --job-name=cal
#SBATCH --time=00:10:00
#SBATCH --mem=500M
python3 calibrate.py --config sensors.json --raw raw.csv --out calibrated.csv
