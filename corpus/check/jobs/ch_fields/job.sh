#!/bin/sh
case "$1 $2" in
    "10 0.5"|"20 0.6"|"30 0.7") echo "known point" ;;
    *) echo "no table for $1 $2" >&2; exit 1 ;;
esac
