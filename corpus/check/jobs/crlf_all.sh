#!/bin/bash
#SBATCH -J dos
#SBATCH --time=10
#SBATCH --mem=500M
cd "$SLURM_SUBMIT_DIR"
python3 -c "print(1)"
