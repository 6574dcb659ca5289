#!/usr/bin/env bash
#SBATCH --job-name=report
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:10:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

unset PYTHONPATH
python3 -m venv --clear --without-pip "$PWD/.venv"
source .venv/bin/activate

python report.py measures.csv > report.txt
