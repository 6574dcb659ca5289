#!/bin/bash
#SBATCH --time=1:00:00 --mem=2G
# keep what the optimiser has after the budget; 124 is expected
set -e
status=0
timeout 0.3 sh -c 'echo 1.25 > best.txt; while true; do sleep 1; done' || status=$?
if [ "$status" -ne 0 ] && [ "$status" -ne 124 ]; then exit "$status"; fi
test -s best.txt
