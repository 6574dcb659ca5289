#!/bin/bash
#SBATCH --time=10 --mem=1G
set -e
source "$SLURM_SUBMIT_DIR"/env/bin/activate
python3 -c 'print(1)'
