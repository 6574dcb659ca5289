#!/bin/sh
# lat lon t2m
set -e
awk '!/^#/ && $1 >= 0' t2m.txt > field_N.part
awk '!/^#/ && $1 < 0' t2m.txt > field_S.part
test -s field_N.part && test -s field_S.part
