#!/bin/bash
#SBATCH --job-name=relax
#SBATCH --time=4:00:00
#SBATCH --mem=6G
set -e
work=$(mktemp -d /tmp/relax.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
seq 1 200000 | awk '{ s += 1 / $1 } END { print s }' > energy.dat
