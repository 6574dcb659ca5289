#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=8G
module load anaconda3/2023.09
conda env create -q -f env.yml -p "$TMPDIR/env"
"$TMPDIR/env/bin/python" -c 'import xarray; print(xarray.__version__)'
