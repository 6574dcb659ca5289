#!/usr/bin/env python3
"""Relax a chain of particles in a harmonic potential.

Exit status: 0 converged, 3 not converged within the step limit.
"""
import sys

path, step = sys.argv[1], float(sys.argv[2])
with open(path) as fh:
    n = int(fh.readline())
    fh.readline()
    x = [float(fh.readline().split()[1]) for _ in range(n)]

for it in range(20000):
    f = [0.0] * n
    for i in range(n - 1):
        d = x[i + 1] - x[i] - 1.0
        f[i] += d
        f[i + 1] -= d
    x = [xi + step * fi for xi, fi in zip(x, f)]
    if max(map(abs, f)) < 1e-8:
        print("converged after", it, "steps")
        print(*("%.6f" % xi for xi in x), sep="\n")
        sys.exit(0)
sys.exit(3)
