#!/bin/bash
set -eu
dem=$1 vx=$2 vy=$3
if command -v gcc > /dev/null 2>&1 && gcc -O2 -o lava lava.c 2> build.log; then
    ./lava "$dem" "$vx" "$vy"
else
    awk -v vx="$vx" -v vy="$vy" -f lava.awk "$dem"
fi
rm -f lava build.log
