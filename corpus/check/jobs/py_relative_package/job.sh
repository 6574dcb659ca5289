#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
cd "$SLURM_SUBMIT_DIR"
python3 -m tools.merge a.txt b.txt
