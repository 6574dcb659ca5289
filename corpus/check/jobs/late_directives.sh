#!/bin/bash
#SBATCH -J late
#SBATCH --mem=1G

cd "$SLURM_SUBMIT_DIR"

#SBATCH --time=20:00:00
#SBATCH --cpus-per-task=8
python3 -c 'print("long")'
