#!/bin/bash
set -euo pipefail
export PATH=$PWD/tools/bin:$PATH
[ -d data ] && { echo "unexpected" >&2; exit 9; }
addup frame_*.txt > stack.txt
wc -l < stack.txt
