#!/usr/bin/env python3
"""Start-up of a stirred tank with a second-order reaction (RK4)."""
import argparse
import csv

ap = argparse.ArgumentParser()
ap.add_argument("title")
ap.add_argument("out")
ap.add_argument("--k", type=float, required=True)
o = ap.parse_args()


def f(c):
    return (2.0 - c) / 5.0 - o.k * c * c


c, t, h = 0.0, 0.0, 0.05
with open(o.out, "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["t", "c"])
    while t < 30:
        w.writerow(["%.2f" % t, "%.6f" % c])
        k1 = f(c)
        k2 = f(c + h / 2 * k1)
        k3 = f(c + h / 2 * k2)
        k4 = f(c + h * k3)
        c += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
print(o.title, "end", round(c, 5))
