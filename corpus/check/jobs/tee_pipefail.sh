#!/bin/bash
#SBATCH --time=0:20:00
#SBATCH --mem=1G
set -o pipefail
simulate() { seq 1 5 | awk '{print $1/5}'; }
if ! simulate 2>&1 | tee sim.log; then
    echo "simulation failed" >&2
    exit 1
fi
