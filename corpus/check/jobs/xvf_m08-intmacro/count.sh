#!/bin/sh
set -eu
printf '%s %s\n' "$1" "$(wc -w < "$1")"
