BEGIN {
    srand(seed)
    for (r = 0; r < 20000; r++) {
        a = b = 0
        for (i = 0; i < n; i++) {
            v = rand()
            bid = fmt == "first" ? v * (n - 1) / n : v
            if (bid > a) { b = a; a = bid } else if (bid > b) b = bid
        }
        rev += fmt == "first" ? a : b
    }
    printf "%s %d %d %.5f\n", fmt, n, seed, rev / r
}
