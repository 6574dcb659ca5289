#!/bin/bash
#SBATCH --job-name=render
#SBATCH --time=5
#SBATCH --mem=100M
set -euo pipefail
visc_re100=0.01
visc_re1000=0.001

for c in re100 re1000; do
    ref=visc_$c
    export CASE=$c VISC=${!ref}
    mkdir -p "cases/$c"
    envsubst '$CASE $VISC' < case.tmpl > "cases/$c/case.in"
    ( cd "cases/$c" && sed -n 's/^visc = //p' case.in > ../../visc_$c.txt )
done
diff <(cat visc_re100.txt visc_re1000.txt) <(printf '%s\n' "$visc_re100" "$visc_re1000")
