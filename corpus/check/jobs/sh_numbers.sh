#!/bin/sh
#SBATCH --job-name=numbers
#SBATCH --time=5
#SBATCH --mem=200M
set -eu
n=0
for month in 01 02 08 09 12; do
    month=${month#0}
    n=$((n + month))
done
rate=$(echo "$n 7" | awk '{ printf "%.2f", $1 / $2 }')
if [ "${rate%.*}" -gt 2 ] && awk "BEGIN { exit !($rate > 4.5) }"; then
    echo "rate $rate"
fi
x=$(expr "$n" + 1) || true
echo "$x"
