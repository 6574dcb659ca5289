#!/bin/sh
#SBATCH --time=10
#SBATCH --mem=100M
set -eu
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", a / b }'; }
for pair in "3 4" "1 8"; do
    # shellcheck disable=SC2086
    ratio $pair
done
case ${USER:-} in "") echo nobody ;; *) echo "user $USER" ;; esac
