#!/bin/bash
# Stage the input, then run the model on it.
set -euo pipefail
curl -sS --retry 3 -o input.csv "$1/table/2000"
for run in $(seq 1 "$2"); do
    awk -F, -v seed="$run" 'NR > 1 {
        x = $3 + seed
        for (i = 0; i < 200; i++) x = (x * 3.9 * (1 - x / 10000)) % 9999
        sum += x
    } END { printf "%.4f\n", sum / NR }' input.csv >> result.txt
done
sort -n result.txt | tail -1
