#!/bin/bash
here=$(dirname "$0")
mkfifo readings
lua5.4 "$here/busy_source.lua" "$1" > readings &
while read -r word number; do
    (( number > most )) && most=$number
done < readings
wait
rm readings
echo "most $most"
