#!/bin/bash
set -euo pipefail
w=$1
# window w holds columns 2w+1 .. 2w+2
cut -c $((2 * w + 1))-$((2 * w + 2)) phased.txt | sort | uniq -c | sort -k1,1nr | head -n 2 > haplo.txt
