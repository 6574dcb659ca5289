#!/bin/bash
# 0: got it; 1: archive did not answer, try again; 3: no such plate, no sense in a retry
set -uo pipefail
plate=$1
out=plate_$plate.txt
touch "$out"
[[ $plate =~ ^[0-9]+$ ]] || exit 3
if ! timeout 600 python3 - "https://archive.testbed.example/plates/$plate" "$out" <<'PY'
import sys
import urllib.request
urllib.request.urlretrieve(sys.argv[1], sys.argv[2])
PY
then
    echo "no answer" >&2
    exit 1
fi
[[ -s $out ]] || exit 3
exit 0
