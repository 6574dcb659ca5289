#!/usr/bin/env python3
"""Least-squares sinusoid by scanning periods (Lomb-like, no numpy)."""
import json
import math
import sys


def power(t, y, f):
    w = 2 * math.pi * f
    tau = math.atan2(sum(math.sin(2 * w * a) for a in t),
                     sum(math.cos(2 * w * a) for a in t)) / (2 * w)
    c = [math.cos(w * (a - tau)) for a in t]
    s = [math.sin(w * (a - tau)) for a in t]
    yc = sum(a * b for a, b in zip(y, c))
    ys = sum(a * b for a, b in zip(y, s))
    return yc * yc / max(1e-12, sum(a * a for a in c)) + ys * ys / max(1e-12, sum(a * a for a in s))


src, dst = sys.argv[1:3]
t, y = [], []
with open(src) as fh:
    for line in fh:
        a, b = line.split()[:2]
        t.append(float(a))
        y.append(float(b))
if len(t) < 5:
    sys.exit("%s: only %d points" % (src, len(t)))
m = sum(y) / len(y)
y = [v - m for v in y]
freqs = [0.01 + 0.001 * i for i in range(5000)]
best = max(freqs, key=lambda f: power(t, y, f))
with open(dst, "w") as out:
    json.dump({"freq": best, "period": 1 / best, "mean": m}, out)
print("P = %.4f d" % (1 / best))
