#!/bin/sh
set -e
test -s "$(basename "$1")"
echo "$2"
