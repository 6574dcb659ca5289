#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -eu
export PYTHONPATH=${PYTHONPATH:-}:$SLURM_SUBMIT_DIR/lib
input=${1:-/etc/hostname}
threads=${SLURM_CPUS_PER_TASK:-1}
echo "$threads threads on $(wc -c < "$input") bytes"
