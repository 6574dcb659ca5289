"""The four functions of numpy that we need, for machines without it."""
import random
__version__ = "0.3"


def lognormal(mu, sigma, n, seed=0):
    r = random.Random(seed)
    return [r.lognormvariate(mu, sigma) for _ in range(n)]


def mean(x):
    return sum(x) / len(x)


def gini(x):
    s = sorted(x)
    n = len(s)
    return sum((2 * i - n + 1) * v for i, v in enumerate(s)) / (n * sum(s))
