#!/bin/sh
set -e
station=$1
src=$station.txt
[ -f "$src" ] || src=traces/$station.txt
awk -f stack.awk "$src"
