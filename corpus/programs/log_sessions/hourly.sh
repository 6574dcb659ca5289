#!/bin/bash
set -eu
here=$(dirname "$0")
log=$1
repeat=${2:-1}
for ((i = 0; i < repeat; i++)); do
    grep -v ' 500 ' "$log" |
        sed -E 's/\?ref=[0-9]+//; s/^([^ ]+) .*\[([0-9]+)\] "GET ([^ ]+) .*rt=([0-9.]+)$/\1 \2 \3 \4/' |
        awk -v shift="$i" -f "$here/hourly.awk" |
        LC_ALL=C sort -k3,3nr -k1,1n > "hours.$i"
    head -n 3 "hours.$i"
done
