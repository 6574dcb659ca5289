#!/bin/bash
# what there is of both towers; one may have failed
: > all_days.txt
for s in heath fen; do
    [ -s "$s/day.txt" ] && sed "s/^/$s /" "$s/day.txt" >> all_days.txt
done
exit 0
