#!/bin/bash
# Haar pyramid of one lead
set -euo pipefail
signal=$1
levels=$2
work=$(mktemp)
trap 'rm -f "$work"' EXIT
grep -v '^#' "$signal" > "$work"
for ((lv = 1; lv <= levels; lv++)); do
    awk -v lv="$lv" -f haar.awk "$work" > "$work.next"
    grep '^d' "$work.next"
    sed -n 's/^a //p' "$work.next" > "$work"
done
rm -f "$work.next"
echo "a $(tr '\n' ' ' < "$work")"
