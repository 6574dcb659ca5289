#!/bin/sh
for d in "$@"; do
    mkdir -p "$d" && echo "10 20 30" > "$d/init.txt" || exit 1
done
