#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
n=$(printf '1\n2\n' | wc -l)
if [ "$n" -lt 2]; then
  echo "too few" >&2
  exit 1
fi
test "$n" -eq 3
