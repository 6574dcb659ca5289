#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=500M
set -e
NREP=5
mkdir -p reps
for r in {1..$NREP}; do
    seq $r $((r + 10)) > reps/rep$r.txt
done
test -e reps/rep5.txt
