#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
n=0
printf 'a\nb\n' | while read -r x; do
  n=$((n + 1))
  echo "$x"
done
if [ "$n" -eq 0 ]; then
  echo "no samples" >&2
  exit 1
fi
