#!/bin/bash
set -e
url=$1
dd if=/dev/urandom of=archive.bin bs=1M count=$((4 * $2)) status=none
split -b 4M -d archive.bin part.
for part in part.*; do
    curl -sS -T "$part" "$url/store/$part" > "$part.reply"
done
grep -c received part.*.reply
