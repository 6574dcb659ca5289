#!/bin/sh
# usage: nj.sh MATRIX REPLICATE
set -e
[ $# -eq 2 ] || { echo "usage: nj.sh MATRIX REPLICATE" >&2; exit 2; }
awk -v rep="$2" -f nj.awk "$1"
