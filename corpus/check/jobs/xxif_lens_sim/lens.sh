#!/bin/bash
set -euo pipefail
[ $# -eq 2 ] || { echo "two arguments are needed, not $#" >&2; exit 2; }
awk -v m="$1" -v l="$2" 'BEGIN { printf "%s: Einstein radius %.2f arcsec\n", l, 1.8 * sqrt(m / 1e12) }'
