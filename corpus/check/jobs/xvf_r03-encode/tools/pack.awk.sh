#!/bin/sh
exec awk -F, 'NR > 1 { printf "%s%s", sep, $2; sep = ";" } END { print "" }' "$1"
