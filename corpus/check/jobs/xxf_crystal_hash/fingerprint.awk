#!/usr/bin/awk -f
# histogram of pair distances, 0.5 A bins; exit 4 = broken file, no use to retry
NR == 1 { n = $1; next }
NR == 2 { next }
NF == 4 { k++; el[k] = $1; x[k] = $2; y[k] = $3; z[k] = $4 }
END {
    if (k != n) { print "expected " n " atoms, got " k+0 > "/dev/stderr"; exit 4 }
    for (i = 2; i <= k; i++)
        for (j = 1; j < i; j++) {
            d = sqrt((x[i]-x[j])^2 + (y[i]-y[j])^2 + (z[i]-z[j])^2)
            p = el[i] < el[j] ? el[i] "-" el[j] : el[j] "-" el[i]
            h[p " " int(d / 0.5) * 0.5]++
        }
    for (b in h) print b, h[b]
}
