#!/bin/bash
#SBATCH --job-name=topics
#SBATCH --partition=main
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=02:00:00
#SBATCH --output=topics-%j.log
set -euo pipefail
module load python/3.11.3
ENV=$(mktemp -d)/env
python3 -m venv "$ENV"
set +u; source "$ENV/bin/activate"; set -u
pip install --quiet -r requirements.txt
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}" OPENBLAS_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
python topics.py speeches.txt 5 > topics.txt
deactivate
