#!/bin/bash
# the corpus travels as base64 text, since the mail gateway ate the tar file once
set -euo pipefail
order=$1
base64 -d "$2" | tar xzf -
# the archive holds corpus/utt.txt
awk -v n="$order" '
    {
        for (i = 1; i <= NF - n + 1; i++) {
            g = $i
            for (j = 1; j < n; j++) g = g " " $(i + j)
            c[g]++
        }
    }
    END { for (g in c) print c[g] "\t" g }' corpus/utt.txt | sort -k1,1nr -k2
rm -rf corpus
