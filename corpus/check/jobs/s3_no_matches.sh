#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -eu
shopt -s nullglob
files=(restart_*.chk)
if [ ${#files[@]} -eq 0 ]; then
    echo "a fresh start"
else
    echo "from ${files[-1]}"
fi
