#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
set -u
extra=()
[ -n "${VERBOSE:-}" ] && extra+=(-v)
printf '%s\n' x y | sort ${extra[@]+"${extra[@]}"}
