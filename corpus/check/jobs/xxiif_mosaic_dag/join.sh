#!/bin/bash
set -e
sort "$1" | awk '{s += $2} {print} END {printf "mean %.3f\n", s / NR}'
