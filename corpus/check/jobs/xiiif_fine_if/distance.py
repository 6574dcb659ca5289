#!/usr/bin/env python3
import argparse
import math
import os

p = argparse.ArgumentParser()
p.add_argument("--om", type=float, default=0.3)
p.add_argument("--z", default="1.0")
p.add_argument("--label", default="")
a = p.parse_args()
H0, C = 67.4, 299792.458


def comoving(z, n=2000):
    h = z / n
    f = [1 / math.sqrt(a.om * (1 + k * h) ** 3 + 1 - a.om) for k in range(n + 1)]
    return C / H0 * h * (sum(f) - (f[0] + f[-1]) / 2)


print("#", os.environ.get("LABEL", "?"), a.label)
for z in map(float, a.z.split(",")):
    d = comoving(z)
    print(f"{z:5.2f} {d:9.2f} {d * (1 + z):9.2f} {d / (1 + z):9.2f}")
