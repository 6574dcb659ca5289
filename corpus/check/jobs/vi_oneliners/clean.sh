#!/bin/bash
#SBATCH --time=10 --mem=200M
set -e
perl -lane 'print join "\t", @F[0,2] if $. > 1 && $F[1] =~ /^(?:x|y)$/' raw.txt > a.txt
perl -i.bak -pe 's{\bfoo\b}{"bar" . ++$n}e' a.txt
sed -E -e '/^#/d;s|/home/[a-z]+|~|g' -e '$!N;s/\n/;/' raw.txt
awk 'BEGIN { OFS = ","; split("x y z", want, " "); for (i in want) w[want[i]] }
     ($2 in w) && !seen[$1]++ { $1 = $1; print; n[$2] += $3 }
     END { for (k in n) printf("%s=%d%s", k, n[k], "\n") | "sort" ; close("sort") }' raw.txt
tr -d '\r' < raw.txt | cut -d' ' -f1,3 --output-delimiter=: | paste -sd+ -
join -t, -1 1 -2 1 <(printf '1,a\n2,b\n') <(printf '1,c\n') | grep -Fx '1,a,c'
python3 -c "
import sys
for l in open('raw.txt'):
    sys.stdout.write('%s' % l)
"
