#!/bin/sh
#SBATCH --time=5
#SBATCH --mem=100M
set -eu
: "${CASE:=base}"
list="a b c"
set -- $list
while [ $# -gt 0 ]; do
    case $1 in
        a | b) printf '%s ' "$1-${CASE}" ;;
        *) echo; ;;
    esac
    shift
done
i=0
while [ "$i" -lt 3 ]; do i=$((i + 1)); done
if command -v bc > /dev/null 2>&1; then echo 'have bc'; fi
[ "$i" = 3 ] && echo "${CASE%se} $(printf '%03d' "$i")"
