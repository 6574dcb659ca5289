#!/bin/bash
set -euo pipefail
tail -n +2 "census_$1.csv" | awk -F, -v y="$1" '{ n[$1] += $2 } END { for (r in n) print y "\t" r "\t" n[r] }' | sort > "tab_$1.tsv"
