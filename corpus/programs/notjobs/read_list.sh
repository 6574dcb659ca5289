#!/bin/bash
list=${1:?usage: read_list.sh LIST}
while read -r name url; do
    [ -z "$name" ] && continue
    curl -sf "$url" -o "$name" || echo "$name" >> missing.txt
done < "$list"
[ ! -s missing.txt ]
