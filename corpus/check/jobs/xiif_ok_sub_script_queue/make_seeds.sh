#!/bin/sh
# prints "seed,label" for the queue statement
i=1
while [ "$i" -le "$1" ]; do
    echo "$((i * 7919)),drift$i"
    i=$((i + 1))
done
