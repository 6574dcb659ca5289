#!/bin/bash
# cut the adapter off, drop what is then shorter than 20 bases
set -u
sample=$1
awk -v sample="$sample" '
    NR % 4 == 1 { name = $0 }
    NR % 4 == 2 { sub(/AGATCGGAAGAGC.*/, ""); bases = $0 }
    NR % 4 == 0 {
        if (length(bases) >= 20)
            printf "%s\n%s\n+\n%s\n", name, bases, substr($0, 1, length(bases))
        else
            print name > (sample ".bad")
    }' "$sample.fq" > "$sample.trimmed.fq" || exit 3

# let the log say which reads are gone
[ -e "$sample.bad" ] && cat "$sample.bad"
