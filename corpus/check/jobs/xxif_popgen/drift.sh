#!/bin/bash
# Wright-Fisher drift of one allele
N=$1; SEED=$2; GEN=$3; FREQ=$4
awk -v n="$N" -v seed="$SEED" -v gen="$GEN" -v p="$FREQ" 'BEGIN {
    srand(seed)
    for (g = 0; g < gen; g++) {
        k = 0
        for (i = 0; i < 2 * n; i++) if (rand() < p) k++
        p = k / (2 * n)
        print g, p
        if (p == 0 || p == 1) break
    }
}'
