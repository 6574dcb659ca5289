#!/bin/bash
# all steps of the ocean chain in one script
set -euo pipefail

make_grid() {
    source "./$1"
    for ((j = 0; j < NY; j++)); do
        for ((i = 0; i < NX; i++)); do echo "$i $j"; done
    done > "$2"
}

run_year() {
    awk -v y="$1" '{ printf "%s %s %s %.3f\n", y, $1, $2, 10 + 5 * sin($2 + y) }' "$2" > "$3"
}

step=$1
shift
case $step in
    grid)  make_grid "$@" ;;
    year)  run_year "$@" ;;
    merge) cat "$1" "$2" > "$3" ;;
    *)     echo "unknown step $step" >&2; exit 2 ;;
esac
