#!/bin/bash
# keep rows whose column C is at least M
usage() { echo "usage: ${0##*/} [-v] [-c COL] [-m MIN] -o OUT FILE..." >&2; exit "${1:-2}"; }
verbose=0 col=1 min=0 out=
while getopts ':hvc:m:o:' opt; do
    case $opt in
        h) usage 0 ;;
        v) verbose=1 ;;
        c) col=$OPTARG ;;
        m) min=$OPTARG ;;
        o) out=$OPTARG ;;
        :) echo "-$OPTARG needs a value" >&2; usage ;;
        \?) echo "unknown -$OPTARG" >&2; usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] && [ -n "$out" ] || usage
mkdir -p "$(dirname "$out")"
(( verbose )) && echo "selecting column $col >= $min from $*"
awk -F, -v c="$col" -v m="$min" 'FNR == 1 { if (NR == 1) print; next } $c + 0 >= m' "$@" > "$out"
