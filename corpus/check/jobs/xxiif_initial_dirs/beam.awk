# position(m) force(kN) per line, span 10 m
{ a[NR] = $1; f[NR] = $2; r += $2 * (10 - $1) / 10 }
END {
    for (x = 0; x <= 10; x += 0.5) {
        m = r * x
        for (i = 1; i <= NR; i++) if (a[i] < x) m -= f[i] * (x - a[i])
        printf "%.1f %.3f\n", x, m
    }
}
