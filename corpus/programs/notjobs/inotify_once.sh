#!/bin/bash
set -e
inotifywait -t 900 -e close_write --include 'input\.dat$' .
sort -g input.dat | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }' > median.txt
