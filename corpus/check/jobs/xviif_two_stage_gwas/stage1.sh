#!/bin/bash
# one score file per chromosome; marker file tells stage 2 that it is complete
set -e
for chr in 1 2 3; do
    awk -v c="$chr" '$1 == c { z = $4 / $5; printf "%s\t%s\t%.4f\n", $1, $2, z }' sumstats.txt \
        > state/chr${chr}.z
    touch state/chr${chr}.ok
done
echo "stage 1 complete"
