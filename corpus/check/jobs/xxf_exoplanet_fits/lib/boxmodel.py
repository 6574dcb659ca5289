def fit(lc, period, depth, width=0.1):
    best = (1e9, 0.0, 0.0)
    for k in range(100):
        t0 = k * period / 100
        for d in (0.5 * depth, depth, 1.5 * depth):
            chi = 0.0
            for t, f in lc:
                ph = ((t - t0) / period) % 1.0
                m = 1 - d if min(ph, 1 - ph) < width / 2 else 1.0
                chi += (f - m) ** 2
            best = min(best, (chi, t0, d))
    return best[1], best[2]
