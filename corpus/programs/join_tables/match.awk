# usage: match.awk LEFT RIGHT: rows of RIGHT with the names of LEFT
BEGIN { FS = OFS = "\t" }
NR == FNR { name[$1] = $2; next }
$2 in name { n[name[$2]]++; sum[name[$2]] += $3 }
END { for (k in n) print k, n[k], sum[k] / n[k] > "matched.tsv" }
