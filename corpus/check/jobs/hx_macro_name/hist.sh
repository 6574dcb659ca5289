#!/bin/sh
[ "$1" = -f ] && [ -n "$2" ] || { echo "usage: hist.sh -f NAME" >&2; exit 2; }
echo "$2"
