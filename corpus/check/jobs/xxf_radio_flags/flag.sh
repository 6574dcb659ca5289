#!/bin/bash
#SBATCH --job-name=rfi
#SBATCH --partition=main
#SBATCH --cpus-per-task=2
#SBATCH --mem=3G
#SBATCH --time=40:00
#SBATCH --chdir=.

# flags RFI in the dynamic spectra; "rfikit" comes with the project
module load python/3.11.3
cd "${SLURM_SUBMIT_DIR:-$PWD}" || exit 1
source venv/bin/activate
set -euo pipefail

python3 -c 'import rfikit; print("rfikit", rfikit.__version__)'
for obs in spectra/*.txt; do
    python3 flag.py "$obs" "${obs%.txt}.flags"
done
deactivate
