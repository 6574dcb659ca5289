#!/bin/bash
#SBATCH --job-name=orbit
#SBATCH --time=00:05:00
#SBATCH --mem=300M
#SBATCH --output=/dev/null

for ecc in 0.0 0.3 0.6; do
    python3 orbit.py $ecc || { echo "e=$ecc failed" >&2; exit 1; }
done | tee orbit.all > /dev/null
test "${PIPESTATUS[0]}" -eq 0 || exit 1
mv orbit.all orbit.dat
