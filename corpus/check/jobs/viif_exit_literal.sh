#!/bin/bash
#SBATCH --time=10 --mem=100M
n=$(printf 'a\nb\n' | wc -l)
if [ "$n" -gt "three" ]; then
  echo many
fi
exit $((n - 2 ? 0 : 1))
