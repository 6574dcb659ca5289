#!/bin/bash
verbose=0
while getopts "n:vh" option; do
    case $option in
        n) steps=$OPTARG ;;
        v) verbose=1 ;;
        h|*) echo "usage: steps.sh [-n N] [-v] FILE"; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -ne 1 ]; then echo "one file, please" >&2; exit 2; fi
seq "${steps:-5}" > "$1"
[ "$verbose" -eq 0 ] || echo "$steps steps"
