#!/bin/bash
# the source system allows one export per time window
here=$(dirname "$0")
for ((window = 1; window <= $2; window++)); do
    python3 "$here/extract.py" "$1" 1 $((100 * window))
    wc -l raw/t0.csv
    sleep 1.4
done
