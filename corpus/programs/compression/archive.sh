#!/bin/bash
# Pack last month's results. Network storage is slow, so compress hard before copying.
src=$1
for f in "$src"/*.csv; do
    xz -6 -k -c "$f" > "$(basename "$f").xz"
done
du -cb ./*.xz | tail -1
