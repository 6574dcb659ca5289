#!/bin/bash
# drop incomplete answers
set -euo pipefail
awk -F, 'NR == 1 || ($2 != "" && $3 != "")' "$1" > "$2.tmp"
mv "$2.tmp" "$2"
