#!/bin/bash
#SBATCH -J nightly
#SBATCH -t 30
# nightly.sh URL TABLES ROWS PASSES LOAD
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
python3 "$here/extract.py" "$1" "$2" "$3"
head -q -n 300 raw/*.csv | wc -l
for t in raw/*.csv; do head -n 800 "$t" > "$t.short"; mv "$t.short" "$t"; done
python3 "$here/transform.py" "$4"
python3 "$here/load.py" "$5"
