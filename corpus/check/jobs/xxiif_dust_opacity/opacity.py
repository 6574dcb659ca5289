#!/usr/bin/env python3
import math
import sys

T = float(sys.argv[1])
num = den = 0.0
with open("silicate.tab") as fh:
    rows = [tuple(map(float, l.split())) for l in fh if not l.startswith("#")]
for (l0, k0), (l1, k1) in zip(rows, rows[1:]):
    lam, kap = 0.5 * (l0 + l1), 0.5 * (k0 + k1)
    x = 14388.0 / (lam * T)
    w = (l1 - l0) * x ** 4 / lam * math.exp(-x) / (1 - math.exp(-x)) ** 2 if x < 500 else 0.0
    num += w
    den += w / kap
print("%g K  %.4f cm2/g" % (T, num / den))
