#!/bin/bash
# splits the catalog into $2 parts and hands each to the extractor
set -e
here=$(dirname "$0")
split -n "l/$2" "$1" part.
for part in part.*; do
    perl "$here/entities.pl" "$part" "$3" >> counts.txt
done
paste -sd+ counts.txt | sed 's/^/total: /'
