#!/bin/bash
best=0 arg=0
for ((n = $1; n <= $2; n++)); do
    k=$n len=1
    while ((k != 1)); do
        ((k = k % 2 ? 3 * k + 1 : k / 2, len++))
    done
    ((len > best)) && best=$len arg=$n
done
echo "$arg $best" > longest.txt
