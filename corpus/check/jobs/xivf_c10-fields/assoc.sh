#!/bin/bash
[ $# -eq 3 ] || { echo "need 3 arguments, got $#" >&2; exit 2; }
printf 'trait=%s alpha=%s group=%s\n' "$1" "$2" "$3"
