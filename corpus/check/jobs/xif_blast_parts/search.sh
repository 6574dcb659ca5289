#!/bin/bash
set -euo pipefail
q=$1 db=$2 out=$3
[[ -s $q && -s $db ]]
awk -f score.awk "$q" "$db" | sort -k3,3nr > "$out"
