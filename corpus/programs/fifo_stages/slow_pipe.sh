#!/bin/bash
here=$(dirname "$0")
mkfifo readings
bash "$here/slow_source.sh" "$1" > readings &
while read -r word number; do
    total=$((total + number))
done < readings
wait
rm readings
echo "total $total"
