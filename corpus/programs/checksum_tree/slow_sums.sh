#!/bin/bash
# hardened checksums, four files per process
here=$(dirname "$0")
find . -name '*.dat' -print0 | sort -z | xargs -0 -n 4 perl "$here/sums_of.pl" "$1" > SUMS
cut -c1-16 SUMS | sort | head -n 3
