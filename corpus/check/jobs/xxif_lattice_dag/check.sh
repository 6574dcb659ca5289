#!/bin/sh
# check.sh FILE [STATUS]
[ "${2:-0}" -eq 0 ] || exit "$2"
[ -s "$1" ]
