#!/usr/bin/env python3
"""Nearest isochrone (colour, magnitude at the turn-off) of a cluster."""
import sys


def table(path):
    with open(path) as fh:
        return [tuple(map(float, l.split())) for l in fh if l.strip() and l[0] != "#"]


stars = table(sys.argv[1])
grid = table(sys.argv[2])
bluest = min(stars)
best = min(grid, key=lambda g: (g[1] - bluest[0]) ** 2 + 0.1 * (g[2] - bluest[1]) ** 2)
print("%s: %.1f Gyr" % (sys.argv[1], best[0]))
