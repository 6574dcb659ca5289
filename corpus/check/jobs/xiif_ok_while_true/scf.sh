#!/bin/bash
#SBATCH --job-name=scf
#SBATCH -c 1
#SBATCH --mem=600M
#SBATCH --time=01:00:00
#SBATCH -o scf_%j.out

set -e
mix=0.8
while true; do
    if python3 scf.py "$mix" > scf.log; then
        echo "converged with mixing $mix"
        break
    fi
    # halve the mixing, give up below 0.05
    mix=$(awk -v m="$mix" 'BEGIN { print m / 2 }')
    awk -v m="$mix" 'BEGIN { exit !(m < 0.05) }' && { echo "no convergence" >&2; exit 1; }
done
cat scf.log
