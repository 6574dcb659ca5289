#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -eu
export PYTHONPATH=$PYTHONPATH:$SLURM_SUBMIT_DIR/lib
python3 -c 'print("ok")'
