#!/bin/bash
#SBATCH --job-name=fitenv
#SBATCH --chdir=proj
#SBATCH --time=00:10:00
#SBATCH --output=slurm-fit.%j.out

set -eo pipefail
if command -v module > /dev/null 2>&1; then
    module load miniconda3 || true
fi
if [[ -n ${CONDA_PREFIX-} && -f ${CONDA_PREFIX}/etc/profile.d/conda.sh ]]; then
    source "${CONDA_PREFIX}/etc/profile.d/conda.sh"
    conda activate fit || echo "falling back to system python"
fi
set -u

python3 scripts/fit.py < data/xy.txt
mv params.json ../fit/
