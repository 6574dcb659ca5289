#!/usr/bin/env python3
"""Monte Carlo estimate of pi, one seed a job."""
import random
import sys


def estimate(rng, n):
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


seed, n = int(sys.argv[1]), int(sys.argv[2])
print(seed, n, estimate(random.Random(seed), n))
