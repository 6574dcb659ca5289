#!/usr/bin/env python3
import argparse

import spectrum      # comes from lib/ (trailing slash: contents land here)

p = argparse.ArgumentParser()
p.add_argument("name")
p.add_argument("--win", type=int, default=32)
a = p.parse_args()

with open(a.name + ".pcm") as fh:
    x = [float(v) for v in fh.read().split()]
with open("centroid.txt", "w") as out:
    for k in range(0, max(1, len(x) - a.win + 1), a.win // 2):
        print(k, "%.4f" % spectrum.centroid(x[k:k + a.win]), file=out)
