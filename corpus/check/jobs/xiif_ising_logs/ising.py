#!/usr/bin/env python3
import argparse
import math
import random

p = argparse.ArgumentParser(description="2D Ising, Metropolis")
p.add_argument("--T", type=float, required=True)
p.add_argument("--L", type=int, default=16)
p.add_argument("--sweeps", type=int, default=100)
a = p.parse_args()

L = a.L
rng = random.Random(11)
s = [[1] * L for _ in range(L)]
for sweep in range(a.sweeps):
    for _ in range(L * L):
        i, j = rng.randrange(L), rng.randrange(L)
        nb = s[(i + 1) % L][j] + s[i - 1][j] + s[i][(j + 1) % L] + s[i][j - 1]
        dE = 2 * s[i][j] * nb
        if dE <= 0 or rng.random() < math.exp(-dE / a.T):
            s[i][j] = -s[i][j]
    print(sweep, sum(map(sum, s)) / L**2)
