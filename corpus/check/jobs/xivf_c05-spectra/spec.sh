#!/bin/bash
set -e
cat calib_*.txt > /dev/null
awk '{ s += $2 } END { print FILENAME, s / NR }' "$1"
