#!/bin/bash
# big sort with little memory
n=${1:-1000}
awk -v n="$n" -f "$(dirname "$0")/keys.awk" > unsorted
mkdir -p tmp
sort -S 8M -T tmp -k2,2 -k1,1n unsorted > by_name
sort -S 8M -T tmp -n unsorted | uniq -w 8 -d | wc -l
join -1 1 -2 1 <(sort -k1,1 by_name | head -n 5000) <(sort -k1,1 unsorted | head -n 5000) | wc -l
