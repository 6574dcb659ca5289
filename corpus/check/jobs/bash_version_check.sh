#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
if (( BASH_VERSINFO[0] < 4 )); then echo "needs bash 4" >&2; exit 3; fi
declare -A seen
for w in a b a; do seen[$w]=$(( ${seen[$w]:-0} + 1 )); done
echo "${seen[a]}"
