#!/bin/bash
#SBATCH --job-name=period
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --mem=4G
#SBATCH --time=00:45:00
#SBATCH --output=period-%j.txt

set -eo pipefail
module purge
module load python/3.11.3

# nothing from ~/.local, the paper must be reproducible
export PYTHONNOUSERSITE=1

cd "$SLURM_SUBMIT_DIR"
echo "python: $(command -v python3)"

for star in V0332 V0417; do
    python3 periodogram.py "lc_${star}.dat" --fmin 0.05 --fmax 5.0 --out "period_${star}.txt"
    echo "$star finished"
done
