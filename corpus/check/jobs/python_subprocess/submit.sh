#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
python3 driver.py config.json
