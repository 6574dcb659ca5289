#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=10M
export SCALE=2.5
seq 3 | awk '{ print $1 * ENVIRON["SCALE"] }'
echo ${UNSET_ON_PURPOSE:-nothing} "${1:-no argument}" "${@:2}"
