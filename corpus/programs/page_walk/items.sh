#!/bin/bash
# Fetch one record after another from the catalogue and keep the names.
base=$1
last=$2
: > names.txt
for id in $(seq 1 "$last"); do
    curl -sf "$base/item/$id" | sed 's/.*"name": "\([^"]*\)".*/\1/' >> names.txt || exit 1
done
sort names.txt | uniq -c
