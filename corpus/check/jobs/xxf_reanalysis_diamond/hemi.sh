#!/bin/sh
set -e
awk '{w = cos($1 * 3.14159265 / 180); s += w * $3; n += w} END {printf "%.3f\n", s / n}' \
    "field_$1.part" > "mean_$1.txt"
