#!/bin/bash
# chrom start depth
set -euo pipefail
chrom=$1
start=$2
depth=$3
len=20

seq=$(awk -v c=">$chrom" '$1==c {on=1; next} /^>/ {on=0} on {printf "%s", $1}' exome.fa)
win=${seq:$((start-1)):$len}
gc=$(printf '%s' "$win" | tr -cd GCgc | wc -c)
printf '%s\t%d\t%d\t%.3f\t%d\n' "$chrom" "$start" "$len" \
    "$(awk -v g="$gc" -v l="${#win}" 'BEGIN {print (l ? g/l : 0)}')" "$depth"
