#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
#SBATCH --cpus-per-task=2
make -C src -j2 || exit 1
src/heat <<EOF
 &par n=16, steps=10 /
EOF
