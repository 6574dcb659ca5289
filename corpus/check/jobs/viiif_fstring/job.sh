#!/bin/bash
#SBATCH --time=00:15:00
#SBATCH --mem=1G
cd "${SLURM_SUBMIT_DIR}"
python3 report.py runs.json
