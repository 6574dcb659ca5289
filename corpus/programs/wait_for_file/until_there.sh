#!/bin/bash
# Start the analysis as soon as the instrument has delivered.
timeout=60
(sleep "$1"; echo "42 17 8" > delivery.txt; touch delivery.done) &
for ((i = 0; i < timeout * 5; i++)); do
    [[ -e delivery.done ]] && break
    sleep 0.2
done
[[ -e delivery.done ]] || { echo "nothing delivered" >&2; exit 1; }
awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i; print s }' delivery.txt
