#!/bin/bash
# one member; the restart file lets us go on after an eviction
set -euo pipefail
m=$1
restart=restart_$m.txt
from=0
if [ -s "$restart" ]; then
    from=$(tail -n 1 "$restart" | cut -d' ' -f1)
    echo "member $m continues after step $from"
fi
awk -v from="$from" -v m="$m" -f waves.awk wind.txt >> "$restart"
tail -n 1 "$restart"
