#!/bin/sh
set -e
awk '{ printf "%s %s ", $1, $2; for (i = 0; i < $3 / 10; i++) printf "#"; print "" }' "$1"
