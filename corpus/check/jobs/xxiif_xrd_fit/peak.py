#!/usr/bin/env python3
"""Centroid and width of the strongest reflection."""
import sys

pts = []
with open(sys.argv[1]) as fh:
    for line in fh:
        x, y = map(float, line.split())
        pts.append((x, y))
bg = min(y for _, y in pts)
tot = sum(y - bg for _, y in pts)
if tot <= 0:
    sys.exit("flat scan")
mean = sum(x * (y - bg) for x, y in pts) / tot
var = sum((x - mean) ** 2 * (y - bg) for x, y in pts) / tot
print("%s centre %.4f width %.4f" % (sys.argv[1], mean, var ** 0.5))
