#!/bin/bash
set -eu
while getopts t:y: o; do
    case $o in t) t=$OPTARG ;; y) y=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
echo "# $t $y"
awk -F, -v y="$y" '$1 ~ "^" y && $2 > m { m = $2; d = $1 } END { print d, m }' "$1"
