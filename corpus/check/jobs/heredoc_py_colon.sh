#!/bin/bash
#SBATCH -J hist
#SBATCH -t 00:05:00
#SBATCH --mem=500M
set -e
python3 - <<'PY'
values = [3, 5, 2, 8]
for v in values
    print("#" * v)
PY
