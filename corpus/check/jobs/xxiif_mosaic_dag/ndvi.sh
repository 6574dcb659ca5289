#!/bin/bash
set -e
awk '{printf "%s %.3f\n", $1, ($3 - $2) / ($3 + $2)}' "$1"
