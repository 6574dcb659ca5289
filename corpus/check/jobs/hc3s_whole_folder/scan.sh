#!/bin/sh
set -e
while read -r name; do
    wc -l "frames/$name"
done < all.txt
