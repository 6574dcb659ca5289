#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
set -eu
out=${OUT_DIR:-"$PWD/results"}
[ -d "$out" ] || mkdir -p "$out"
bc_or_awk() { command -v bc > /dev/null && echo "$1" | bc -l || awk "BEGIN { print $1 }"; }
bc_or_awk '3 / 4' > "$out/ratio"
python3 -m json.tool --sort-keys < state.json > "$out/state.json"
python3 -m pkgdemo --verbose "$out"
