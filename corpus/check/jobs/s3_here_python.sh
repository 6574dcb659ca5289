#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
rate=0.25
python3 - "$rate" <<'PY'
import os
import sys
rate = float(sys.argv[1])
price = {"USD": 3, "$": 4}
print(f"{rate * price['$']:.2f}", os.environ["SLURM_JOB_ID"], "$rate stays")
PY
