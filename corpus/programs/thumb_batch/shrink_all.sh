#!/bin/bash
set -e
here=$(dirname "$0")
gcc -O2 -o shrink "$here/shrink.c"
mkdir -p thumbs
for round in $(seq "$1"); do
    for picture in picture*.pgm; do
        ./shrink "$picture" "thumbs/${picture%.pgm}.$((round % 9 + 2)).pgm" $((round % 9 + 2))
    done
done
ls thumbs | wc -l
