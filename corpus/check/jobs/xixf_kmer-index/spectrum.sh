#!/bin/bash
set -e
tar xf index.tar
for f in index/k*.tsv; do
    k=${f##*/k}
    awk -v k="${k%.tsv}" '{ h[$2]++ } END { for (c in h) print k, c, h[c] }' "$f"
done | sort -n > spectrum.txt
