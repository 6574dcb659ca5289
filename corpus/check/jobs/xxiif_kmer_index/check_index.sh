#!/bin/sh
# all five parts of a BWA index must be there
for e in amb ann bwt pac sa; do
    if [ ! -s "$1.$e" ]; then
        echo "missing $1.$e" >&2
        exit 1
    fi
done
echo "index complete"
