#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
#SBATCH --cpus-per-task=1
set -euo pipefail
python3 spectra.py lines.txt
