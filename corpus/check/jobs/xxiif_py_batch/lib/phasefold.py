def scatter(t, m, p):
    z = sorted(((x % p) / p, y) for x, y in zip(t, m))
    return sum((b[1] - a[1]) ** 2 for a, b in zip(z, z[1:]))


def best_period(t, m, lo=0.5, hi=5.0, n=2000):
    grid = [lo + (hi - lo) * k / n for k in range(n)]
    return min(grid, key=lambda p: scatter(t, m, p))
