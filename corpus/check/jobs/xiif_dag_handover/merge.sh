#!/bin/sh
set -e
sort -k2,2 -k1,1n tab_*.tsv > merged.tsv
