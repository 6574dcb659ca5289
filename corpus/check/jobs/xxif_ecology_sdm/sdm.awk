# climate envelope: mean and range of temperature at the presences
NR > 1 && $1 == sp {
    n++; sum += $4
    if (n == 1 || $4 < lo) lo = $4
    if (n == 1 || $4 > hi) hi = $4
}
END {
    if (!n) { print "no presence of " sp > "/dev/stderr"; exit 1 }
    printf "%s n=%d mean=%.2f range=%.2f..%.2f\n", sp, n, sum / n, lo, hi
}
