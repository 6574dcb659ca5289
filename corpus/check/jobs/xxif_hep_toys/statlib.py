import math


def poisson(rng, mean):
    limit, k, p = math.exp(-mean), 0, 1.0
    while True:
        p *= rng.random()
        if p <= limit:
            return k
        k += 1


def cdf(n, mu):
    return sum(math.exp(-mu) * mu ** k / math.factorial(k) for k in range(n + 1))


def upper_limit(n, b, cl=0.95):
    lo, hi = 0.0, 200.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if cdf(n, b + mid) / max(cdf(n, b), 1e-12) > 1 - cl:
            lo = mid
        else:
            hi = mid
    return 0.5 * (lo + hi)
