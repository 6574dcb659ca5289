#!/bin/sh
set -e
awk -f "$1.awk" "$2" || awk -f "models/$1.awk" "$2"
