#!/bin/sh
#SBATCH --time=5
#SBATCH --mem=100M
sed -n -e 's|^path: *||p' -e '/^#/d' conf.yml |
awk -F/ -v OFS='\t' '
    function base(p,   parts, k) { k = split(p, parts, "/"); return parts[k] }
    { seen[base($0)]++ }
    END { for (b in seen) if (seen[b] == 1) print b, seen[b] | "sort"; close("sort") }
' > bases.tsv
sed -i.bak 's/\t/ /g' bases.tsv
[ "$(awk 'END{print NR}' bases.tsv)" = 2 ]
