#!/bin/bash
set -euo pipefail
step=$1 infile=$2
case $step in
    correct)  tr 'N' 'A' < "$infile" ;;
    assemble) paste -sd '' "$infile" ;;
    polish)   tr 'a-z' 'A-Z' < "$infile" ;;
    report)   wc -c < "$infile" ;;
    *) echo "unknown step $step" >&2; exit 2 ;;
esac > "$step.txt"
