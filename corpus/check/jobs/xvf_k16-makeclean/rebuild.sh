#!/usr/bin/env bash
#SBATCH --job-name=rebuild
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:10:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
make clean
make
./build/primes 1000
STAGE=${STAGE_DIR:-$PWD/stage}
mkdir -p "$STAGE"
cp build/primes "$STAGE/"
rm -rf "${STAGE:?}"/*
