#!/bin/bash
#SBATCH --mem=1G
#SBATCH --time=20
#SBATCH -n 1
set -e
python3 - <<'PY'
buffer = bytearray(6 * 1024**3)
print(len(buffer))
PY
