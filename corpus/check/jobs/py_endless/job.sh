#!/bin/bash
#SBATCH -t 1-00:00:00
#SBATCH --mem=1G
python3 monitor.py
