#!/bin/bash
#SBATCH --job-name=scf
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=90
#SBATCH --output=scf_%j.out

set -euo pipefail

SCR=$(mktemp -d "${TMPDIR:-/tmp}/scf.$SLURM_JOB_ID.XXXX")
cleanup() { cd /; rm -rf "${SCR:?}"/* && rmdir "$SCR"; }
trap cleanup EXIT

cp scf.c hamiltonian.in "$SCR"/
cd "$SCR"
gcc -O2 -o scf scf.c -lm
./scf < hamiltonian.in | tee "$SLURM_SUBMIT_DIR/energy.txt"
