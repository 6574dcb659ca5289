#!/bin/bash
# Per-node error counts, for the weekly report.
set -u
shopt -s nullglob
worst=0
for log in node*.log; do
    errors=0
    while read -r _ _ _ _ _ _ _ status _; do
        [[ $status == 500 ]] && ((errors++))
    done < "$log"
    if ((errors > worst)); then
        worst=$errors
        name=$log
    fi
done
echo "worst: ${name:-none} with $worst errors"
