#!/bin/bash
cd "$(dirname "$0")/in" || exit
for f in *.dat; do
    echo "${f%.dat} $(( $(stat -c %s "$f") / 1024 + 64 ))M"
done
