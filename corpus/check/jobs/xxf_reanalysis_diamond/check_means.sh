#!/bin/sh
for f in "$@"; do
    [ -s "$f" ] || { echo "$f is empty"; exit 1; }
done
