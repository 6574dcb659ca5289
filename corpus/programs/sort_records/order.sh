#!/bin/bash
# Order sales by shop, then by amount. sort(1) may spill to disk when the file is large.
export LC_ALL=C TMPDIR=$PWD
sort -t, -k2,2 -k3,3nr "$1" > ordered.csv
cut -d, -f2 ordered.csv | uniq -c
