#!/usr/bin/env python3
import math
import random
import sys

seed, n = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)


def U(q):
    return 0.25 * q**4 - q**2


def dU(q):
    return q**3 - 2 * q


q, eps, L = 0.0, 0.1, 12
for i in range(n):
    p = rng.gauss(0, 1)
    q1, p1 = q, p - 0.5 * eps * dU(q)
    for k in range(L):
        q1 += eps * p1
        p1 -= eps * dU(q1) * (1 if k < L - 1 else 0.5)
    dH = U(q1) + p1 * p1 / 2 - U(q) - p * p / 2
    if math.log(rng.random()) < -dH:
        q = q1
    print(seed, i, f"{q:.5f}")
