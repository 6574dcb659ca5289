#!/bin/bash
#SBATCH -J clean
#SBATCH -t 30
#SBATCH --mem=1G
TMPDIR=${TMPDIR:-/tmp}
work="${TMPDIR:?}/relax_$SLURM_JOB_ID"
mkdir -p "$work"
trap 'rm -rf "${TMPDIR:?}/relax_${SLURM_JOB_ID:?}"' EXIT
cd "$work" || exit 1
seq 1 100 > positions.dat
awk '{s+=$1} END {print s/NR}' positions.dat
